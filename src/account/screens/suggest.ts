/** Known values like what somebody has begun to type. */
import { mostFirst } from "#account/components/browse-facets.ts";
import { fold } from "#records/fold.ts";
import { signalTypes } from "#records/vocabulary.ts";
import { browse, type Browse } from "#search/browse.ts";
import { type FacetName, facetNames } from "#search/dataset-parts.ts";
import { readDocuments } from "#search/documents.ts";
import type { Miss } from "#search/gp-search.ts";
import type { ReadModel } from "#search/read-model.ts";

const suggestionsMax = 8;
/** Names are many: a message says nothing. */
const nameLengthMin = 2;

/** At most eight, the likeliest first. @param name of a parameter; of an unknown one nothing is known. */
export function suggest(model: ReadModel, name: string, text: string): string[] {
  const folded = fold(text);
  if (name === "gp_name") return names(model, text, folded);
  if (name === "type") return beginningFirst(signalTypes, folded);
  const facet = facetNames.find((one) => one === name);
  return facet === undefined ? [] : values(model, facet, text, folded);
}

function names(model: ReadModel, text: string, folded: string): string[] {
  if (folded.length < nameLengthMin) return [];
  const bounds = { limit: suggestionsMax, offset: 0 };
  const { positions, misses } = model.selectGps({ name: text }, bounds);
  const known = readDocuments<{ name: string }>(model.parts.documents.gp, positions);
  return [...known.map((gp) => gp.name), ...misses.flatMap((miss) => model.suggestionsFor(miss))];
}

function values(model: ReadModel, facet: FacetName, text: string, folded: string): string[] {
  const found = beginningFirst(commonFirst(browse(model.parts), facet), folded);
  const miss: Miss = { parameter: facet, value: text, folded };
  return found.length > 0 ? found : model.suggestionsFor(miss);
}

/** The values of a facet, those of most GPs first. */
export function commonFirst({ gps, values: ofFacet }: Browse, facet: FacetName): string[] {
  const known = ofFacet[facet];
  const counts = gps.count(facet, known, {});
  return mostFirst(known.map((value, i) => ({ value, count: counts[i]! }))).map(
    ({ value }) => value,
  );
}

function beginningFirst(known: readonly string[], folded: string): string[] {
  const holding = known.filter((value) => fold(value).includes(folded));
  const begins = (value: string) => (fold(value).startsWith(folded) ? 0 : 1);
  return holding.toSorted((a, b) => begins(a) - begins(b)).slice(0, suggestionsMax);
}
