/** The file format of a generation: one SQLite database, described in docs/dataset-format.md. */
// Imports no schemas: with them, the worker that loads a dataset would take four times as long to start.
import { kinds, type RecordKind, recordKinds } from "#records/kinds.ts";

/** Version of the format, raised by a new kind. Raise the 3 if a program could misread a file of another version. */
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
