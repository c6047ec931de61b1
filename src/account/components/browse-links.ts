/** What is chosen on the browse pages: read from the URL, shown in words, and the links that change it. */
import { fetchPrincipals } from "#operations/fetch-principals.ts";
import { operations } from "#operations/index.ts";
import { everyFilter, type Operation, parameterBounds } from "#operations/operation.ts";
import { readQuery } from "#operations/parameters.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { type FacetName, facetNames } from "#search/dataset-parts.ts";
import { valueLabel } from "./record-words.ts";

/** Parameters of the operations. */
const gpChoices: readonly FacetName[] = facetNames.toSorted();
/** In the order of the URL; `type` is that of a signal. */
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

/** Parameters of the browse pages that no operation has. */
const ownNames = ["type", "order"];

const { gp_name: _name, ...facetFilters } = everyFilter;

/** The query of a browse page is read like that of an operation, with the same errors. */
const likeOperation: Operation = {
  ...fetchPrincipals,
  path: "/account/browse" as Operation["path"],
  filters: facetFilters,
};

/** @throws Problem invalid-parameters. */
export function readChosen(query: URLSearchParams): Chosen {
  const shared = new URLSearchParams([...query].filter(([name]) => !ownNames.includes(name)));
  const { limitDefault, valuesMax } = parameterBounds;
  const { filter, offset } = readQuery(likeOperation, shared.toString(), limitDefault, operations);
  return {
    ...(filter as Pick<Chosen, FacetName>),
    // An unknown type stays chosen, and nothing matches it.
    type: [...new Set(query.getAll("type"))].slice(0, valuesMax),
    order: query.get("order") === "name" ? "name" : "latest",
    offset,
  };
}

/** Defaults are left out. */
export function browseHref(path: string, chosen: Chosen): string {
  const pairs = new URLSearchParams();
  for (const name of choiceNames) for (const value of chosen[name]) pairs.append(name, value);
  if (chosen.order !== "latest") pairs.append("order", chosen.order);
  if (chosen.offset > 0) pairs.append("offset", String(chosen.offset));
  const query = pairs.toString();
  return query === "" ? path : `${path}?${query}`;
}

/** The query of an operation for the chosen GPs. */
export function callQuery(chosen: Chosen): string {
  const pairs = new URLSearchParams();
  for (const name of gpChoices) for (const value of chosen[name]) pairs.append(name, value);
  pairs.append("limit", "20");
  return pairs.toString();
}

/** Adds a value; the list begins at its first page again. */
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

/** A chosen value that no record has, and similar known ones. */
export interface Unknown {
  value: string;
  /** Each with the choice that holds it instead. */
  suggestions: readonly { value: string; chosen: Chosen }[];
}

const namedMax = 4;

/** Joined by "or"; only the first of many. */
const eitherOf = (values: readonly string[]): string => {
  const more = values.length - namedMax;
  return [...values.slice(0, namedMax), ...(more > 0 ? [`${more} more`] : [])].join(" or ");
};

/** As the end of a heading. */
export const inMarkets = ({ market }: Chosen): string =>
  market.length === 0 ? "" : ` in ${eitherOf(market)}`;

/** All that is chosen except the market, and a link back to everything. */
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
