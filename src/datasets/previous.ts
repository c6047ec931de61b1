/** Reads from the previous generation the records, ids and times that the next one keeps. */
import { DatabaseSync } from "node:sqlite";
import type { CanonicalRecord } from "#records/canonical.ts";
import { recordKinds, type RecordKind } from "#records/kinds.ts";
import {
  type DraftRecord,
  type DraftRecords,
  linksText,
  noRecords,
  sortKeyOf,
} from "./draft-record.ts";
import { immutableUri } from "./open-generation.ts";
import { ownJson, ownPart } from "./render.ts";
import { arraysOf } from "./rows.ts";
import type { TextStore } from "./text-store.ts";

/** A record of the previous generation. */
export interface Known {
  since: string;
  /** Hash of the content, hexadecimal. */
  contentHash: string;
  updatedAt: string;
}

export interface Previous {
  /** Sources, with the time of the last import that changed each. */
  sources: ReadonlyMap<string, string>;
  /** Returns the records of these sources, to be carried over. */
  records(sources: Iterable<string>, texts: TextStore): DraftRecords;
  countOf(source: string): number;
  /** Returns all records of a kind by public id. */
  known(kind: RecordKind): ReadonlyMap<string, Known>;
  /** Returns former ids with the GPs that they lead to. */
  formerIds(): ReadonlyMap<string, string>;
  close(): void;
}

const nothing: Previous = {
  sources: new Map(),
  records: noRecords,
  countOf: () => 0,
  known: () => new Map(),
  formerIds: () => new Map(),
  close() {},
};

/** @param path path of a verified generation; null if there is none. */
export function openPrevious(path: string | null): Previous {
  if (path === null) return nothing;
  const db = new DatabaseSync(immutableUri(path), { readOnly: true });
  const pairsOf = (sql: string) => new Map(arraysOf<[string, string]>(db, sql));
  return {
    sources: pairsOf("select name, imported_at from source"),
    records: (sources, texts) => readRecords(db, [...sources], texts),
    countOf(source) {
      const counted = db.prepare("select count(*) as n from canonical where source = ?");
      return Number(counted.get(source)!["n"]);
    },
    known(kind) {
      const sql = `select id, since, lower(hex(content_hash)), updated_at from ${kind}`;
      const known = new Map<string, Known>();
      for (const [id, since, contentHash, updatedAt] of arraysOf<KnownRow>(db, sql))
        known.set(id, { since, contentHash, updatedAt });
      return known;
    },
    formerIds: () => pairsOf("select former_id, gp_id from former_id"),
    close: () => db.close(),
  };
}

function readRecords(db: DatabaseSync, sources: string[], texts: TextStore): DraftRecords {
  const records = noRecords();
  if (sources.length === 0) return records;
  const places = sources.map(() => "?").join(", ");
  const targets = `select id, source_id from gp union all select id, source_id from project`;
  const sourceIds = new Map(arraysOf<[string, string]>(db, targets));
  for (const kind of recordKinds)
    for (const row of arraysOf<Row>(
      db,
      `select source, source_id, id, is_time_stated, document from ${kind}
       where source in (${places}) order by position`,
      ...sources,
    ))
      records[kind].push(draftAgain(kind, row, sourceIds, texts));
  return records;
}

type KnownRow = [id: string, since: string, contentHash: string, updatedAt: string];
type Row = [source: string, sourceId: string, id: string, isTimeStated: number, document: string];

/** Drafts a record again, so that it has members added to the format since. */
function draftAgain(
  kind: RecordKind,
  [source, sourceId, id, isTimeStated, document]: Row,
  sourceIds: ReadonlyMap<string, string>,
  texts: TextStore,
): DraftRecord {
  const record = JSON.parse(document) as CanonicalRecord & Linked & Record<string, unknown>;
  const links = linksText({
    statedAt: isTimeStated === 1 ? record.updated_at! : null,
    gps: (record.gps ?? []).map((gp) => sourceIds.get(gp.id)!),
    projects: (record.project_ids ?? []).map((project) => sourceIds.get(project)!),
  });
  return {
    source,
    sourceId,
    id,
    sortKey: sortKeyOf({ ...record, record: kind } as CanonicalRecord),
    formerIds: none,
    text: texts.keep(links, ownJson(ownPart(kind, record))),
  };
}

const none: readonly string[] = [];

/** Links in a document. */
interface Linked {
  gps?: { id: string }[];
  project_ids?: string[];
}
