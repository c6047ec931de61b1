/**
 * The format of a generation's file, an SQLite database that docs/dataset-format.md describes; and the facts beside the
 * file, in `<version>.json`.
 */
// Imports no schemas: with them, the worker that loads a dataset would take four times as long to start.
import { readFileSync } from "node:fs";
import { eachOf, kinds, type RecordKind, recordKinds } from "#records/kinds.ts";
import { DatasetFault } from "./dataset-fault.ts";

/** Version of the format, raised by each new kind. Raise the 3 for a change that another version could misread. */
export const formatVersion = Math.max(3, ...recordKinds.map((kind) => kinds[kind].format));

const recordTable = (kind: RecordKind) => `
  create table ${kind} (
    position integer primary key,
    id text not null,
    source text not null,
    source_id text not null,
    since text not null,
    content_hash blob not null,
    updated_at text not null,
    is_time_stated integer not null,
    own_length integer not null,
    document text not null
  );`;

/**
 * SQLite settings for a draft. Nothing serves it before it is complete and synced, so it needs neither journal nor
 * locks. With large pages there are fewer to write and check, and less space is wasted.
 */
export const draftPragmas = `pragma page_size = 16384; pragma journal_mode = off;
  pragma synchronous = off; pragma locking_mode = exclusive`;

/** SQL that creates the tables. Indexes are created once the tables are filled, which is several times faster. */
export const tables = `
  create table meta (key text primary key, value text not null) without rowid;
  create table source (name text primary key, imported_at text not null) without rowid;
  ${recordKinds.map(recordTable).join("")}
  create view canonical as ${recordKinds
    .map((kind) => `select '${kind}' as kind, source, source_id, id as public_id from ${kind}`)
    .join(" union all ")};
  create table former_id (former_id text primary key, gp_id text not null) without rowid;
  create table published_id (id text primary key, since text not null) without rowid;
  create table withheld_id (id text primary key) without rowid;
  create table array (name text not null, element text not null, bytes blob not null);
  create table evidence_document (
    id integer primary key, form text not null, number text not null, filer text, filed_on text, url text
  );
  create table evidence (
    record text not null, document integer not null, field text not null, text text not null, firm text,
    basis text not null, confidence real not null, is_taken integer not null, why text not null
  );
  create table evidence_of (
    record text primary key, documents_left_out integer not null, crc32 integer not null
  ) without rowid;
`;

export const indexes = `
  ${recordKinds.map((kind) => `create unique index ${kind}_id on ${kind} (id);`).join("\n  ")}
  create index evidence_record on evidence (record);
`;

/** Content of the table `meta`, all as text. */
export interface Meta {
  format_version: string;
  fold_version: string;
  version: string;
  /** SHA-256 over format, fold, and the content of all documents without their times. */
  hash: string;
  built_at: string;
  /** CRC-32 over the rows of `array`. */
  index_crc32: string;
  /** CRC-32 over all documents. */
  documents_crc32: string;
}

/** Returns a version such as `20261120T030000Z-9f3c2a7e`: the time of the build and the start of the hash. */
export function versionOf(builtAt: string, hash: string): string {
  return `${builtAt.slice(0, 19).replaceAll(/[-:]/g, "")}Z-${hash.slice(0, 8)}`;
}

/** Returns the time in a version, in the form of `built_at`. */
export const builtAtOf = (version: string) =>
  version.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z.*$/, "$1-$2-$3T$4:$5:$6Z");

/** Returns a time in RFC 3339, UTC, in whole seconds. */
export const timeOf = (milliseconds: number) =>
  `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;

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
  /** Version that was current at the build; null if none was. Its sources were carried over unless replaced. */
  built_from: string | null;
  /** Time when it last became current; null if it was never published. */
  published_at: string | null;
  /** Version that was current before its first publication; null if none was, or it was never published. */
  published_after: string | null;
  /** Time when it was pinned; null if it is not pinned. Pruning keeps pinned generations. */
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
