/** Suggestions while somebody types: known values like the text so far. */
import { mostFirst, shortValues } from "#dashboard/components/browse-facets.ts";
import { json, type MemberRequest, type Reply, type Route, route } from "#dashboard/screen.ts";
import { fold } from "#records/fold.ts";
import { signalTypes } from "#records/vocabulary.ts";
import { type FacetName, facetNames, readDocuments } from "#search/dataset-parts.ts";
import type { Miss } from "#search/facet-index.ts";
import type { ReadModel } from "#search/read-model.ts";

export const suggestRoutes: readonly Route[] = [
  route("/account/browse/suggest", "member", { GET: suggestions, isBackground: true }),
];

/** Costs no quota; a suspended account gets none, as it may read no records. */
function suggestions({ services, account, query }: MemberRequest): Reply {
  const model = services.model();
  if (model === null || account.suspendedAt !== null) return json([]);
  return json(suggest(model, query.get("name") ?? "", query.get("text") ?? ""));
}

const suggestionsMax = 8;
/** Shortest text that names are suggested for: of so many, a single letter would narrow down nothing. */
const nameLengthMin = 2;

/** Suggests at most eight values, the likeliest first; none for an unknown parameter. @param name name of the parameter. */
function suggest(model: ReadModel, name: string, text: string): string[] {
  const folded = fold(text);
  if (name === "gp_name") return names(model, text, folded);
  if (name === "type") return beginningFirst(signalTypes, folded);
  const facet = facetNames.find((one) => one === name);
  return facet === undefined ? [] : values(model, facet, text, folded);
}

function names(model: ReadModel, text: string, folded: string): string[] {
  if (folded.length < nameLengthMin) return [];
  const bounds = { limit: suggestionsMax, offset: 0 };
  const { positions, misses } = model.select("gp", { gp_name: text }, bounds);
  const known = readDocuments<{ name: string }>(model.parts.documents.gp, positions);
  return [...known.map((gp) => gp.name), ...misses.flatMap((miss) => model.suggestionsFor(miss))];
}

function values(model: ReadModel, facet: FacetName, text: string, folded: string): string[] {
  const found = beginningFirst(commonFirst(model, facet), folded);
  const miss: Miss = { kind: "gp", parameter: facet, value: text, folded };
  return found.length > 0 ? found : model.suggestionsFor(miss);
}

/** Returns the values of a facet, the most common among GPs first. */
function commonFirst(model: ReadModel, facet: FacetName): string[] {
  const known = shortValues(model, "gp", facet);
  const counts = model.count("gp", facet, known, {});
  return mostFirst(known.map((value, i) => ({ value, count: counts[i]! }))).map(
    ({ value }) => value,
  );
}

function beginningFirst(known: readonly string[], folded: string): string[] {
  const holding = known.filter((value) => fold(value).includes(folded));
  const begins = (value: string) => (fold(value).startsWith(folded) ? 0 : 1);
  return holding.toSorted((a, b) => begins(a) - begins(b)).slice(0, suggestionsMax);
}
