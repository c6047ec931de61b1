/** The choice on the browse pages: how it is read from the URL, put into words and changed by links. */
import { fetchPrincipals } from "#operations/fetch-principals.ts";
import { operations } from "#operations/index.ts";
import { type Operation, parameterBounds } from "#operations/operation.ts";
import { readQuery } from "#operations/parameters.ts";
import type { Part } from "#pages/html.ts";
import { eachOf } from "#records/kinds.ts";
import { type FacetName, facetNames } from "#search/dataset-parts.ts";
import type { Filter } from "#search/read-model.ts";
import { hidden } from "./page.ts";
import { joined, valueLabel } from "./records.ts";

/** Choices about GPs, which are parameters of the operations. */
const gpChoices: readonly FacetName[] = facetNames.toSorted();
/** All choices, in the order they have in a URL; `type` is a signal's type. */
export const choiceNames: readonly ChoiceName[] = [...gpChoices, "type"];
export type ChoiceName = FacetName | "type";

export interface Chosen extends Readonly<Record<ChoiceName, readonly string[]>> {
  /** Part of a GP's name, as in `gp_name`. */
  name?: string | undefined;
  order: Order;
  offset: number;
}

/** Orders of GPs. `match`, which needs a name, puts the best matches first. */
export const orders = ["match", "latest", "name"] as const;
export type Order = (typeof orders)[number];

/** Returns the default order: by match if a name is chosen, otherwise by latest signal. */
const usualOrder = ({ name }: Pick<Chosen, "name">): Order =>
  name === undefined ? "latest" : "match";

export const nothingChosen: Chosen = {
  ...eachOf(choiceNames, (): string[] => []),
  order: "latest",
  offset: 0,
};

export const browsePaths = { gps: "/browse/gps", signals: "/browse/signals" } as const;

/** Parameters that only the browse pages have. */
const ownNames = ["type", "order"];

/** Stand-in operation for the browse pages. Their queries are read like an operation's, with the same errors. */
const likeOperation: Operation = {
  ...fetchPrincipals,
  path: "/browse/gps" as Operation["path"],
};

/** Reads the choice from a query. @throws Problem `invalid-parameters`. */
export function readChosen(query: URLSearchParams): Chosen {
  // Browsers send the name field even if it is empty.
  const isShared = ([name, value]: [string, string]) =>
    !ownNames.includes(name) && (name !== "gp_name" || value.trim() !== "");
  const shared = new URLSearchParams([...query].filter(isShared));
  const { limitDefault, valuesMax } = parameterBounds;
  const { filter, offset } = readQuery(likeOperation, shared.toString(), limitDefault, operations);
  return {
    ...eachOf(gpChoices, (name) => (filter[name] ?? []) as readonly string[]),
    name: filter.gp_name,
    // An unknown type stays chosen but matches nothing.
    type: [...new Set(query.getAll("type"))].slice(0, valuesMax),
    order:
      orders.find((order) => order === query.get("order")) ?? usualOrder({ name: filter.gp_name }),
    offset,
  };
}

/** Returns a choice's filter. A signal's market is its own; name, tags and themes are those of its GPs. */
export function filterOf(kind: "gp" | "signal", chosen: Chosen): Filter {
  const { name: gp_name, market, type } = chosen;
  const ofGp = Object.fromEntries(gpChoices.map((choice) => [choice, chosen[choice]]));
  return kind === "gp"
    ? { gp_name, ...ofGp }
    : { gp_name, market, type, gp: { ...ofGp, market: [] } };
}

/** Returns the URL of a choice. Leaves out default values. */
export function browseHref(path: string, chosen: Chosen): string {
  const pairs = new URLSearchParams(pairsOf(chosen));
  if (chosen.offset > 0) pairs.append("offset", String(chosen.offset));
  const query = pairs.toString();
  return query === "" ? path : `${path}?${query}`;
}

/** Returns the parameters of a choice. Leaves out the offset and default values. */
function pairsOf(chosen: Chosen): [name: string, value: string][] {
  const { name, order } = chosen;
  const values = choiceNames.flatMap((choice) =>
    chosen[choice].map((value): [string, string] => [choice, value]),
  );
  if (name !== undefined) values.unshift(["gp_name", name]);
  if (order !== usualOrder(chosen)) values.push(["order", order]);
  return values;
}

/** Returns the choice as hidden fields. @param own parameter to leave out because the form has its own field for it. */
export const keptFields = (chosen: Chosen, own?: string): Part =>
  pairsOf(chosen).map(([name, value]) => name !== own && hidden(name, value));

/** Returns the choice with a value added, or removed if it was chosen. The list starts again at its first page. */
export function toggled(chosen: Chosen, name: ChoiceName, value: string): Chosen {
  const others = chosen[name].filter((one) => one !== value);
  const isChosen = others.length < chosen[name].length;
  return { ...chosen, [name]: isChosen ? others : [...others, value], offset: 0 };
}

const wordsMax = 4;

/** Returns the choice in words for the end of a heading, with at most 4 values of each parameter. */
export function chosenWords(chosen: Chosen): Part {
  const either = (name: ChoiceName) =>
    joined(chosen[name].slice(0, wordsMax).map(valueLabel), chosen[name].length, " or ");
  const others = choiceNames.filter((name) => name !== "market" && chosen[name].length > 0);
  return [
    chosen.name !== undefined && ` named “${chosen.name}”`,
    chosen.market.length > 0 && [" in ", either("market")],
    others.map((name) => [", ", either(name)]),
  ];
}
