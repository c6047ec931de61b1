/** The facts of a generation, kept beside its file in `<version>.json`. */
import { readFileSync } from "node:fs";
import { eachOf, type RecordKind, recordKinds } from "#records/kinds.ts";
import { DatasetFault } from "./dataset-fault.ts";
import { builtAtOf } from "./format.ts";

export const versionShape = /^\d{8}T\d{6}Z-[0-9a-f]{8}$/;

/** Facts of a generation that are known without opening its file. */
export interface Generation {
  version: string;
  /** SHA-256 over its format, its fold, and its content without times. */
  hash: string;
  /** SHA-256 of the file. */
  sha256: string;
  bytes: number;
  records: Record<RecordKind, number>;
  /** Importer's report on the last import of each source, by source. Some importers make none. */
  reports: Record<string, object>;
  built_at: string;
  /** Version that was current when it was built, whose other sources it carries over; null if none was. */
  built_from: string | null;
  /** Time when it last became current; null if it was never published. */
  published_at: string | null;
  /** Version that was current before its first publication; null if none was, or it was never published. */
  published_after: string | null;
  /** Time when it was pinned, which protects it from removal; null if it is not pinned. */
  pinned_at: string | null;
}

/** Reports whether a generation was never published. */
export const isStaged = ({ published_at }: Generation) => published_at === null;

/** Reports whether a dataset is staged and was built from a version other than the current one. */
export const isOutdated = (generation: Generation, current: string | null) =>
  isStaged(generation) && generation.built_from !== current;

/** Returns the facts after a publication. The first publication notes which version was current before. */
export const asPublished = (
  generation: Generation,
  published_at: string,
  current: string | null,
): Generation & { published_at: string } => ({
  ...generation,
  published_at,
  published_after: isStaged(generation) ? current : generation.published_after,
});

/** Returns the generation that became current last. Returns undefined if none was published. */
export const lastPublished = (generations: readonly Generation[]): Generation | undefined =>
  generations
    .filter((one) => !isStaged(one))
    .toSorted((a, b) => Date.parse(a.published_at!) - Date.parse(b.published_at!))
    .at(-1);

export const factsText = (generation: Generation) => `${JSON.stringify(generation, null, 2)}\n`;

/** Remedy for wrong facts. The exact remedy depends on whether the dataset is served, which is not known here. */
export const factsRemedy = "'gp-records datasets verify' says how to fix it.";

/**
 * Reads facts.
 * @param version version in the file's name, which the facts must repeat. It contains the time of the build.
 * @throws DatasetFault that names the file.
 */
export function readFacts(path: string, version: string): Generation {
  let facts: Generation | null;
  try {
    // The file may contain any JSON.
    facts = JSON.parse(readFileSync(path, "utf8")) as Generation | null;
  } catch (error) {
    throw new DatasetFault(`${path} cannot be read: ${(error as Error).message}. ${factsRemedy}`);
  }
  for (const [name, expected] of [
    ["version", version],
    ["built_at", builtAtOf(version)],
  ] as const)
    if (facts?.[name] !== expected)
      throw new DatasetFault(
        `${path} does not describe its dataset: "${name}" is ${JSON.stringify(facts?.[name]) ?? "missing"} instead of "${expected}". ${factsRemedy}`,
      );
  return withAllCounts(facts!);
}

/**
 * Returns facts with the members that an older program left out: 0 records of a kind, and no reports. Puts the counts
 * in the order of kinds.
 */
export const withAllCounts = (facts: Generation): Generation => ({
  ...facts,
  records: eachOf(recordKinds, (kind) => facts.records?.[kind] ?? 0),
  reports: facts.reports ?? {},
});
