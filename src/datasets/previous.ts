/** Reads the records, ids and times that a new generation keeps from the previous one. */
import { DatabaseSync } from "node:sqlite";
import type { CanonicalRecord } from "#records/canonical.ts";
import { recordKinds, type RecordKind } from "#records/kinds.ts";
import {
  type DraftRecord,
  type DraftRecords,
  type KeepText,
  linksText,
  none,
  noRecords,
  sortKeyOf,
} from "./draft-record.ts";
import { openEvidenceReader } from "./evidence.ts";
import { tables } from "./generation.ts";
import { arraysOf, readSources } from "./open-generation.ts";
import { ownJson, ownPart } from "./render.ts";
import type { TextStore } from "./text-store.ts";

/** Facts of a record of the previous generation. */
export interface Known {
  since: string;
  /** Hash of the content, hexadecimal. */
  contentHash: string;
  updatedAt: string;
}

export type Previous = ReturnType<typeof openPrevious>;

/** Opens the previous generation. @param generation open file of a verified generation; null if there is none. */
export function openPrevious(generation: DatabaseSync | null) {
  const db = generation ?? emptyGeneration();
  return {
    /** Sources, with the time of the last import that changed each. */
    sources: new Map(readSources(db)),
    /** Returns the records of the given sources, to carry them over. */
    records: (sources: readonly string[], texts: TextStore) => readRecords(db, sources, texts),
    gpDocuments: (source: string) =>
      arraysOf<[string, string]>(db, "select id, document from gp where source = ?", source),
    countOf(sources: readonly string[]): number {
      const sql = `select count(*) as n from canonical where source in (${marksFor(sources)})`;
      return Number(db.prepare(sql).get(...sources)!["n"]);
    },
    /** Returns facts of all records of a kind, by public id. */
    known(kind: RecordKind): ReadonlyMap<string, Known> {
      const sql = `select id, since, lower(hex(content_hash)), updated_at from ${kind}`;
      const known = new Map<string, Known>();
      for (const [id, since, contentHash, updatedAt] of arraysOf<KnownRow>(db, sql))
        known.set(id, { since, contentHash, updatedAt });
      return known;
    },
    /**
     * Returns the ids that the generation keeps for good, and those of the given sources' GPs and principals. Each has
     * the time of its first publication.
     */
    publishedIds(sources: readonly string[]) {
      const some = `where source in (${marksFor(sources)})`;
      const sql = `select id, since from gp ${some} union all select id, since from principal ${some}`;
      const ids = new Map(arraysOf<[string, string]>(db, sql, ...sources, ...sources));
      if (hasTable(db, "published_id"))
        for (const [id, since] of arraysOf<[string, string]>(db, "select * from published_id"))
          ids.set(id, since);
      return ids;
    },
    /** Returns the ids of GPs and projects that suppressions left out. Earlier programs wrote none. */
    withheldIds: () =>
      hasTable(db, "withheld_id")
        ? Array.from(arraysOf<[string]>(db, "select id from withheld_id"), ([id]) => id)
        : [],
    /** Returns former ids of GPs and principals, with the ids that they lead to. */
    formerIds: () =>
      new Map(arraysOf<[string, string]>(db, "select former_id, gp_id from former_id")),
    close: () => db.close(),
  };
}

/** Reports whether a generation has a table. Earlier programs wrote no tables of published or withheld ids. */
export const hasTable = (db: DatabaseSync, name: string): boolean =>
  db.prepare("select 1 from sqlite_schema where name = ?").get(name) !== undefined;

function emptyGeneration(): DatabaseSync {
  const db = new DatabaseSync(":memory:");
  db.exec(tables);
  return db;
}

const marksFor = (values: readonly string[]) => values.map(() => "?").join(", ");

function readRecords(db: DatabaseSync, sources: readonly string[], texts: TextStore): DraftRecords {
  const records = noRecords();
  if (sources.length === 0) return records;
  const targets = `select id, source, source_id from gp union all select id, source, source_id from project`;
  const sourceIds = new Map(sources.map((source) => [source, new Map<string, string>()]));
  for (const [id, source, sourceId] of arraysOf<[string, string, string]>(db, targets))
    sourceIds.get(source)?.set(id, sourceId);
  const evidenceOf = openEvidenceReader(db);
  const order = { sourceIds, evidenceOf, keep: texts.keep };
  for (const kind of recordKinds)
    for (const row of arraysOf<Row>(
      db,
      `select source, source_id, id, is_time_stated, document from ${kind}
       where source in (${marksFor(sources)}) order by position`,
      ...sources,
    ))
      records[kind].push(draftAgain(kind, row, order));
  return records;
}

type KnownRow = [id: string, since: string, contentHash: string, updatedAt: string];
type Row = [source: string, sourceId: string, id: string, isTimeStated: number, document: string];

interface DraftOrder {
  /** Source ids of GPs and projects, by source and then by public id. */
  sourceIds: ReadonlyMap<string, ReadonlyMap<string, string>>;
  evidenceOf: ReturnType<typeof openEvidenceReader>;
  keep: KeepText;
}

/** Drafts a stored record again, so that it gets members that were added to its kind later. */
function draftAgain(
  kind: RecordKind,
  [source, sourceId, id, isTimeStated, document]: Row,
  { sourceIds, evidenceOf, keep }: DraftOrder,
): DraftRecord {
  const own = sourceIds.get(source)!;
  const record = JSON.parse(document) as CanonicalRecord &
    Record<string, unknown> & { gps?: { id: string }[]; project_ids?: string[] };
  const links = linksText({
    statedAt: isTimeStated === 1 ? record.updated_at! : null,
    // A GP of another source is linked to by its public id.
    gps: (record.gps ?? []).map((gp) => own.get(gp.id) ?? gp.id),
    projects: (record.project_ids ?? []).map((project) => own.get(project)!),
    evidence: evidenceOf(id),
  });
  return {
    source,
    sourceId,
    id,
    sortKey: sortKeyOf({ ...record, record: kind } as CanonicalRecord),
    formerIds: none,
    text: keep(links, ownJson(ownPart(kind, record))),
  };
}
