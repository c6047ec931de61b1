/** Reads from an address what is chosen on the browse pages. */
import { fetchPrincipals } from "#operations/fetch-principals.ts";
import { operations } from "#operations/index.ts";
import type { Operation } from "#operations/operation.ts";
import { parameterBounds } from "#operations/parameter-names.ts";
import { readQuery } from "#operations/parameters.ts";
import type { Chosen } from "#pages/account/browse-links.ts";

/** Names that no operation has. */
const ownNames = ["type", "order"];

/** So that an address means to the pages what it means to an operation, and the same is a fault. */
const likeOperation: Operation = {
  ...fetchPrincipals,
  path: "/account/browse" as Operation["path"],
  filters: ["tag", "theme", "market"],
};

/** @throws Problem invalid-parameters. */
export function readChosen(query: URLSearchParams): Chosen {
  const shared = new URLSearchParams([...query].filter(([name]) => !ownNames.includes(name)));
  const { limitDefault, valuesMax } = parameterBounds;
  const { filter, offset } = readQuery(likeOperation, shared.toString(), limitDefault, operations);
  return {
    market: filter.market ?? [],
    tag: filter.tag ?? [],
    theme: filter.theme ?? [],
    // A type that does not exist stays chosen, and nothing is of it.
    type: [...new Set(query.getAll("type"))].slice(0, valuesMax),
    order: query.get("order") === "name" ? "name" : "latest",
    offset,
  };
}
