/** Builds a generation from a source's records and the generation before it, in one file that is never changed again. */
import { closeSync, fsyncSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { RecordKind } from "#records/canonical.ts";
import { foldVersion } from "#records/fold.ts";
import type { SourceEntry } from "#records/source-entry.ts";
import { collectSource, type Collected } from "./collect.ts";
import { openDocumentWriter, type Changes } from "./document-writer.ts";
import { datasetHash } from "./dataset-hash.ts";
import { settleIds } from "./former-ids.ts";
import { formatVersion, indexes, tables, versionOf, type Meta } from "./format.ts";
import { immutableUri } from "./open-generation.ts";
import { isTooMuch, type RejectedMax } from "./rejections.ts";
import { writeGps } from "./write-gps.ts";
import { writeLinked } from "./write-linked.ts";

export interface BuildRequest {
  /** Folder the file is made in; see catalogue.ts. */
  folder: string;
  source: string;
  entries: AsyncIterable<SourceEntry> | Iterable<SourceEntry>;
  /** The generation whose other sources are carried over; null for the first. */
  previousPath: string | null;
  /** Sources of the generation before that are dropped. */
  dropped: readonly string[];
  rejectedMax: RejectedMax;
  /** RFC 3339, whole seconds; later than that of every generation before. */
  builtAt: string;
  onRead: (lines: number) => void;
}

/** What became of the records, and where the draft is, if it is worth publishing. */
export interface BuildResult {
  collected: Collected;
  /** `refused`: too many rejections, or no record is left; `unchanged`: equal to the generation before. */
  outcome: "built" | "unchanged" | "refused";
  changes: Changes;
  draft: { path: string; meta: Meta; counts: Record<RecordKind, number> } | null;
}

/** @throws DatasetFault where ids contradict each other; the draft is removed then. */
export async function buildGeneration(request: BuildRequest): Promise<BuildResult> {
  // One name for all drafts, so that what a killed import left behind is gone with the next.
  const path = join(request.folder, ".draft.sqlite");
  try {
    closeSync(openSync(path, "w", 0o600));
    const result = await fillDraft(path, request);
    if (result.outcome !== "built") rmSync(path, { force: true });
    return result;
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  }
}

async function fillDraft(path: string, request: BuildRequest): Promise<BuildResult> {
  const { source, previousPath, builtAt } = request;
  const db = new DatabaseSync(path);
  try {
    // Nothing reads the draft before it is whole and synced, so it needs neither journal nor locks.
    db.exec("pragma journal_mode = off; pragma synchronous = off; pragma locking_mode = exclusive");
    const hasPrevious = previousPath !== null;
    if (hasPrevious) db.prepare("attach ? as previous").run(immutableUri(previousPath));
    db.exec(`begin; ${tables}`);
    if (hasPrevious) carryOver(db, [source, ...request.dropped]);
    const collected = await collectSource(db, source, request.entries, request.onRead);
    const { read, rejections } = collected;
    if (isTooMuch(rejections.count, read, request.rejectedMax) || isWithoutRecords(db, source))
      return {
        collected,
        outcome: "refused",
        changes: { added: 0, updated: 0, removed: 0 },
        draft: null,
      };
    db.prepare("insert into source values (?, ?)").run(source, builtAt);
    settleIds(db, source, hasPrevious);
    const writer = openDocumentWriter(db, builtAt, hasPrevious);
    writeLinked(db, writer, writeGps(db, writer));
    const changes = writer.changes();
    if (changes.added + changes.updated + changes.removed === 0)
      return { collected, outcome: "unchanged", changes, draft: null };
    const meta = writeMeta(db, datasetHash(writer.contentHash()), builtAt);
    db.exec(`commit; ${indexes}`);
    const counts = countRecords(db);
    db.close();
    syncFile(path);
    return { collected, outcome: "built", changes, draft: { path, meta, counts } };
  } finally {
    if (db.isOpen) db.close();
  }
}

function carryOver(db: DatabaseSync, except: readonly string[]): void {
  const others = `where source not in (${except.map(() => "?").join(", ")})`;
  db.prepare(`insert into canonical select * from previous.canonical ${others}`).run(...except);
  db.prepare(
    `insert into source select * from previous.source ${others.replace("source", "name")}`,
  ).run(...except);
}

/** A delivery of which nothing is left is a mistake, not the wish to remove the source. */
const isWithoutRecords = (db: DatabaseSync, source: string) =>
  db.prepare("select 1 from canonical where source = ? limit 1").get(source) === undefined;

function writeMeta(db: DatabaseSync, hash: string, builtAt: string): Meta {
  const meta: Meta = {
    format_version: String(formatVersion),
    fold_version: String(foldVersion),
    version: versionOf(builtAt, hash),
    hash,
    built_at: builtAt,
  };
  const insert = db.prepare("insert into meta values (?, ?)");
  for (const [key, value] of Object.entries(meta)) insert.run(key, value);
  return meta;
}

function countRecords(db: DatabaseSync): Record<RecordKind, number> {
  const count = (kind: RecordKind) =>
    Number(db.prepare(`select count(*) as n from ${kind}`).get()!["n"]);
  return {
    gp: count("gp"),
    principal: count("principal"),
    signal: count("signal"),
    project: count("project"),
  };
}

function syncFile(path: string): void {
  const file = openSync(path, "r+");
  fsyncSync(file);
  closeSync(file);
}
