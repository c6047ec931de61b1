/** What is chosen on the browse pages, and the links that choose something else. */

/** In the order of the address. The first three are the operations' own parameters; `type` is a signal's. */
export const choiceNames = ["market", "tag", "theme", "type"] as const;
export type ChoiceName = (typeof choiceNames)[number];

export interface Chosen extends Readonly<Record<ChoiceName, readonly string[]>> {
  /** Of GPs. */
  order: "latest" | "name";
  offset: number;
}

export const nothingChosen: Chosen = {
  market: [],
  tag: [],
  theme: [],
  type: [],
  order: "latest",
  offset: 0,
};

export const browsePaths = { gps: "/account/browse", signals: "/account/browse/signals" } as const;

/** What has its usual value stands in no address. */
export function browseHref(path: string, chosen: Chosen): string {
  const pairs = new URLSearchParams();
  for (const name of choiceNames) for (const value of chosen[name]) pairs.append(name, value);
  if (chosen.order !== "latest") pairs.append("order", chosen.order);
  if (chosen.offset > 0) pairs.append("offset", String(chosen.offset));
  const query = pairs.toString();
  return query === "" ? path : `${path}?${query}`;
}

/** The chosen GPs as an operation is asked for them. */
export function callQuery(chosen: Chosen): string {
  const pairs = new URLSearchParams();
  for (const name of ["market", "tag", "theme"] as const)
    for (const value of chosen[name]) pairs.append(name, value);
  pairs.append("limit", "20");
  return pairs.toString();
}

/** One value more; the page begins anew. */
export const withValue = (chosen: Chosen, name: ChoiceName, value: string): Chosen => ({
  ...chosen,
  [name]: [...chosen[name], value],
  offset: 0,
});

export const withoutValue = (chosen: Chosen, name: ChoiceName, value: string): Chosen => ({
  ...chosen,
  [name]: chosen[name].filter((one) => one !== value),
  offset: 0,
});
