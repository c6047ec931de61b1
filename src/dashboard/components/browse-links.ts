/** The choice on the browse pages: read from the URL, shown in words, and the links that change it. */
import { fetchPrincipals } from "#operations/fetch-principals.ts";
import { operations } from "#operations/index.ts";
import { type Operation, parameterBounds } from "#operations/operation.ts";
import { readQuery } from "#operations/parameters.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { type FacetName, facetNames } from "#search/dataset-parts.ts";
import type { Filter } from "#search/read-model.ts";
import { hidden } from "./page.ts";
import { valueLabel } from "./records.ts";

/** Parameters of the operations. */
const gpChoices: readonly FacetName[] = facetNames.toSorted();
/** In the order of the URL; `type` is that of a signal. */
const choiceNames: readonly ChoiceName[] = [...gpChoices, "type"];
export type ChoiceName = FacetName | "type";

export interface Chosen extends Readonly<Record<ChoiceName, readonly string[]>> {
  /** Part of a name of the GP, as `gp_name` is. */
  name?: string | undefined;
  /** Order of GPs; `match` has the names that fit best first. */
  order: Order;
  offset: number;
}

export type Order = "match" | "latest" | "name";

/** Returns the order if the URL has none. */
const usualOrder = ({ name }: Pick<Chosen, "name">): Order =>
  name === undefined ? "latest" : "match";

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

/** Operation that a browse page stands for: its query is read in the same way, with the same errors. */
const likeOperation: Operation = {
  ...fetchPrincipals,
  path: "/account/browse" as Operation["path"],
};

/** Reads the choice from a query. @throws Problem invalid-parameters. */
export function readChosen(query: URLSearchParams): Chosen {
  // The field of the name is sent empty, too.
  const isShared = ([name, value]: [string, string]) =>
    !ownNames.includes(name) && (name !== "gp_name" || value.trim() !== "");
  const shared = new URLSearchParams([...query].filter(isShared));
  const { limitDefault, valuesMax } = parameterBounds;
  const { filter, offset } = readQuery(likeOperation, shared.toString(), limitDefault, operations);
  return {
    ...(filter as unknown as Pick<Chosen, FacetName>),
    name: filter.gp_name,
    // An unknown type stays chosen, and nothing matches it.
    type: [...new Set(query.getAll("type"))].slice(0, valuesMax),
    order:
      orders.find((order) => order === query.get("order")) ?? usualOrder({ name: filter.gp_name }),
    offset,
  };
}

/** Returns the filter of a choice. The market of a signal is its own; name, tags and themes are those of its GPs. */
export function filterOf(kind: "gp" | "signal", chosen: Chosen): Filter {
  const { name: gp_name, market, type } = chosen;
  const ofGp = Object.fromEntries(gpChoices.map((choice) => [choice, chosen[choice]]));
  return kind === "gp"
    ? { gp_name, ...ofGp }
    : { gp_name, market, type, gp: { ...ofGp, market: [] } };
}

/** Orders that need no name. */
const orders = ["latest", "name"] as const;

/** Returns the URL of a choice, without defaults. */
export function browseHref(path: string, chosen: Chosen): string {
  const pairs = new URLSearchParams(pairsOf(chosen));
  if (chosen.offset > 0) pairs.append("offset", String(chosen.offset));
  const query = pairs.toString();
  return query === "" ? path : `${path}?${query}`;
}

/** Returns the parameters of a choice, without its page and without defaults. */
function pairsOf(chosen: Chosen): [name: string, value: string][] {
  const { name, order } = chosen;
  const values = choiceNames.flatMap((choice) =>
    chosen[choice].map((value): [string, string] => [choice, value]),
  );
  if (name !== undefined) values.unshift(["gp_name", name]);
  if (order !== usualOrder(chosen)) values.push(["order", order]);
  return values;
}

/** Returns the choice as hidden fields, without the parameter of the form itself. */
export const keptFields = (chosen: Chosen, own?: string): Part =>
  pairsOf(chosen).map(([name, value]) => name !== own && hidden(name, value));

/** Returns the query of an operation for the chosen GPs. */
export function callQuery(chosen: Chosen): string {
  const pairs = new URLSearchParams();
  if (chosen.name !== undefined) pairs.append("gp_name", chosen.name);
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

const namedMax = 4;

/** Joins values by "or"; only the first of many. */
const eitherOf = (values: readonly string[]): string => {
  const more = values.length - namedMax;
  return [...values.slice(0, namedMax), ...(more > 0 ? [`${more} more`] : [])].join(" or ");
};

/** Returns name and market as the end of a heading. */
export const namedIn = ({ name, market }: Chosen): string =>
  (name === undefined ? "" : ` named “${name}”`) +
  (market.length === 0 ? "" : ` in ${eitherOf(market)}`);

/** Returns the choice except name and market, and a link back to everything. */
export function choiceLine(path: string, chosen: Chosen): Part {
  if (chosen.name === undefined && choiceNames.every((name) => chosen[name].length === 0))
    return null;
  const besideMarket = gpChoices.filter((name) => name !== "market");
  const groups = ["type" as const, ...besideMarket]
    .map((name) => chosen[name])
    .filter((values) => values.length > 0)
    .map((values) => eitherOf(values.map(valueLabel)));
  const order = chosen.order === "match" ? nothingChosen.order : chosen.order;
  const everything = { ...nothingChosen, order };
  return html`<p>
    ${groups.map((group, i) => [i > 0 && " and ", html`<strong>${group}</strong>`])}
    <a href="${browseHref(path, everything)}">Show everything</a>
  </p>`;
}

/** Finds GPs by name within what is chosen. */
export const nameField = (path: string, chosen: Chosen): Html =>
  html`<form class="find" role="search" action="${path}">
    ${keptFields(chosen, "gp_name")}
    <label for="gp-name" class="unseen">Name of a GP</label>
    <input
      id="gp-name"
      name="gp_name"
      type="search"
      autocomplete="off"
      placeholder="Name of a GP"
      value="${chosen.name ?? ""}"
      maxlength="200"
      list="gp-names"
      data-suggest="gp_name"
    />
    <datalist id="gp-names"></datalist>
    <button>Search</button>
  </form>`;
