/** HTTP statuses by their class. */

export const statusClasses = ["2xx", "3xx", "4xx", "5xx"] as const;
export type StatusClass = (typeof statusClasses)[number];

export const statusClassOf = (status: number): StatusClass =>
  `${Math.floor(status / 100)}xx` as StatusClass;

/** The statuses of a class: from the first, up to but excluding the second. */
export function statusRange(statusClass: StatusClass): [number, number] {
  const first = Number(statusClass[0]) * 100;
  return [first, first + 100];
}
