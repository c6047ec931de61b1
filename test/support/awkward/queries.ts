/** Queries that are hard to answer: parts of real names, values nobody carries, characters that mean something elsewhere. */
import type { CanonicalGp, CanonicalRecord } from "#records/canonical.ts";
import { kindOf, referenceAnswer, type ReferenceQuery } from "../reference.ts";
import { facets } from "../reference/matching.ts";
import { nameAsked } from "./names-asked.ts";
import { repeat, seededRandom, type Random } from "./random.ts";
import { valuesAsked } from "./values-asked.ts";

const gpNameLengthMax = 200;
const valueLengthMax = 100;
const operations = Object.keys(kindOf) as ReferenceQuery["operation"][];

/**
 * Valid queries, the same for the same seed, records and ids.
 * @param ids public ids of GPs, present or former, to ask for by id; former ids that stand in the records are used anyway.
 */
export function awkwardQueries(
  seed: number,
  records: readonly CanonicalRecord[],
  count: number,
  ids: readonly string[] = [],
): ReferenceQuery[] {
  const random = seededRandom(seed);
  const gps = records.filter((record) => record.record === "gp");
  const known = [...ids, ...gps.flatMap((gp) => gp.former_ids ?? [])];
  return repeat(count, () => {
    const query = conditions(random, gps, known);
    return random.chance(0.6) ? query : { ...query, offset: offset(random, records, query) };
  });
}

function conditions(
  random: Random,
  gps: readonly CanonicalGp[],
  ids: readonly string[],
): ReferenceQuery {
  const operation = random.pick(operations);
  const crowded = gps.filter(({ id }) => id === "0" || id === "1");
  const gp = random.some(1, random.chance(0.2) ? crowded : gps)[0];
  const query: ReferenceQuery = { operation, limit: limit(random), offset: 0 };
  if (operation === "fetch-gp" || random.chance(0.6))
    query.gp_name = fitting(
      nameAsked(random, gp, random.some(1, gps)[0], ids),
      operation === "fetch-gp" ? 2 : 1,
      gpNameLengthMax,
    );
  if (operation === "fetch-gp" || operation === "fetch-principals")
    for (const facet of facets)
      if (random.chance(0.3))
        query[facet] = valuesAsked(random, facet, gp).map((value) =>
          fitting(value, 1, valueLengthMax),
        );
  return query;
}

function limit(random: Random): number {
  return random.pick([1, 2, 20, 20, 99, 100, 100, 1 + random.below(100)]);
}

/** At, just before, just after or far beyond the end, or anywhere before it. */
function offset(
  random: Random,
  records: readonly CanonicalRecord[],
  query: ReferenceQuery,
): number {
  const { total } = referenceAnswer(
    records,
    query,
    (_, sourceId) => sourceId,
    () => [],
  );
  const near = [total, total - 1, total + 1, total - query.limit, total - query.limit - 1];
  return Math.max(0, random.pick([...near, 1, random.below(total + 1), 2147483647]));
}

/** The text as a request would carry it: composed, trimmed, of an allowed length. */
function fitting(text: string, lengthMin: number, lengthMax: number): string {
  const points = Array.from(text.normalize("NFC").trim());
  const fitted = points.slice(0, lengthMax).join("").trim();
  return Array.from(fitted).length < lengthMin ? "stone" : fitted;
}
