/** The facts of a generation, kept beside its file in `<version>.json`. */
import { readFileSync } from "node:fs";
import type { RecordKind } from "#records/kinds.ts";
import { otherThanFile } from "#store/plain-file.ts";
import { DatasetFault } from "./dataset-fault.ts";

export const versionShape = /^\d{8}T\d{6}Z-[0-9a-f]{8}$/;

/** What is known of a generation without opening its file. */
export interface Generation {
  version: string;
  /** SHA-256 over its content, times excluded. */
  hash: string;
  /** SHA-256 of the file. */
  sha256: string;
  bytes: number;
  records: Record<RecordKind, number>;
  built_at: string;
  /** The version whose other sources it carries on; null for the first. */
  built_from: string | null;
  /** When it last became the current one; null where it never did. */
  published_at: string | null;
  /** The version that was current when it first became so; null where there was none. */
  published_after: string | null;
  /** Since when it must not be removed; null where it may be. */
  pinned_at: string | null;
}

/** The one that became current last, which after a rollback is not the newest; undefined where none ever did. */
export const lastPublished = (generations: readonly Generation[]): Generation | undefined =>
  generations
    .filter(({ published_at }) => (published_at ?? null) !== null)
    .toSorted((a, b) => Date.parse(a.published_at!) - Date.parse(b.published_at!))
    .at(-1);

export const factsText = (generation: Generation) => `${JSON.stringify(generation, null, 2)}\n`;

/** The remedy depends on whether the dataset is served, which is not known here. */
export const factsRemedy = "'gp-records datasets verify' says what mends it.";

/**
 * @param version whose facts they are to be, as the name of the file has it.
 * @throws DatasetFault naming the file.
 */
export function readFacts(path: string, version: string): Generation {
  const facts = parse(path);
  if (facts?.version !== version)
    throw new DatasetFault(
      `${path} tells of another dataset: "version" is ${JSON.stringify(facts?.version)} instead of "${version}". ${factsRemedy}`,
    );
  return facts;
}

/** The file may hold any JSON. */
function parse(path: string): Generation | null {
  const other = otherThanFile(path);
  if (other !== null) throw new DatasetFault(`${path} is ${other}, not a file. ${factsRemedy}`);
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Generation | null;
  } catch (error) {
    throw new DatasetFault(`${path} cannot be read: ${(error as Error).message}. ${factsRemedy}`);
  }
}
