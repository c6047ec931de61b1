/** What is chosen on the browse pages, and the links that choose something else. */
import { html, type Html, type Part } from "#pages/html.ts";
import { grouped } from "#pages/prose.ts";
import { type FacetName, facetNames } from "#search/dataset-parts.ts";
import { valueLabel } from "./record-words.ts";

/** The operations' own parameters. */
const gpChoices: readonly FacetName[] = facetNames.toSorted();
/** In the order of the address; `type` is a signal's. */
export const choiceNames: readonly ChoiceName[] = [...gpChoices, "type"];
export type ChoiceName = FacetName | "type";

export interface Chosen extends Readonly<Record<ChoiceName, readonly string[]>> {
  /** Of GPs. */
  order: "latest" | "name";
  offset: number;
}

export const nothingChosen: Chosen = {
  ...(Object.fromEntries(choiceNames.map((name) => [name, []])) as unknown as Record<
    ChoiceName,
    []
  >),
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
  for (const name of gpChoices) for (const value of chosen[name]) pairs.append(name, value);
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

/** A chosen value that nothing carries, and known ones like it. */
export interface Unknown {
  value: string;
  /** With the choice that has it instead. */
  suggestions: readonly { value: string; chosen: Chosen }[];
}

export const countOf = (count: number, noun: string): string =>
  `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;

const namedMax = 4;

/** Joined by "or"; of many the first ones. */
const eitherOf = (values: readonly string[]): string => {
  const more = values.length - namedMax;
  return [...values.slice(0, namedMax), ...(more > 0 ? [`${more} more`] : [])].join(" or ");
};

/** As the end of a heading. */
export const inMarkets = ({ market }: Chosen): string =>
  market.length === 0 ? "" : ` in ${eitherOf(market)}`;

/** All that is chosen beside the market, and the way back to everything. */
export function choiceLine(path: string, chosen: Chosen): Part {
  if (choiceNames.every((name) => chosen[name].length === 0)) return null;
  const besideMarket = gpChoices.filter((name) => name !== "market");
  const groups = ["type" as const, ...besideMarket]
    .map((name) => chosen[name])
    .filter((values) => values.length > 0)
    .map((values) => eitherOf(values.map(valueLabel)));
  const everything = { ...nothingChosen, order: chosen.order };
  return html`<p>
    ${groups.map((group, i) => [i > 0 && " and ", html`<strong>${group}</strong>`])}
    <a href="${browseHref(path, everything)}">Show everything</a>
  </p>`;
}

export const unknownNote = (path: string, { value, suggestions }: Unknown): Html =>
  html`<p class="fault" role="alert">
    Nothing carries “${value}”.
    ${
      suggestions.length > 0 && [
        "Did you mean ",
        suggestions.map((near, i) => [
          i > 0 && " or ",
          html`<a href="${browseHref(path, near.chosen)}">${near.value}</a>`,
        ]),
        "?",
      ]
    }
  </p>`;
