/** Classes of HTTP statuses. */

export const statusClasses = ["2xx", "3xx", "4xx", "5xx"] as const;
export type StatusClass = (typeof statusClasses)[number];

export const statusClassOf = (status: number): StatusClass =>
  `${Math.floor(status / 100)}xx` as StatusClass;
