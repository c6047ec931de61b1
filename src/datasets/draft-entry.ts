/** Checks the entries of an importer and drafts their records. That needs no other entry, so any thread can do it. */
import type { CanonicalRecord } from "#records/canonical.ts";
import type { RecordKind } from "#records/kinds.ts";
import { checkPlainRecord, checkRecord } from "#records/check-record.ts";
import type { RecordFault, RecordName, SourceEntry } from "#records/source-entry.ts";
import { type DraftedRecord, draftRecord, type KeepText } from "./draft-record.ts";
import type { PackedRecords, TextStore } from "./text-store.ts";

/** A record without faults, or the faults of a record and its name, which may be any JSON. */
export type Drafted =
  | DraftedRecord
  | { faults: readonly RecordFault[]; kind: RecordKind; sourceId: string };

/** An entry of a source, with drafted records. */
export interface DraftedEntry {
  file: string;
  line: number;
  records: readonly Drafted[];
  /** GPs that the line only names. */
  namedGps: readonly Drafted[];
  /** Records that the line removes. */
  deleted: readonly RecordName[];
  /** Faults of the line as such. */
  faults: readonly RecordFault[];
}

/** Drafts an entry. @param keep stores the texts of a record. */
export function draftEntry(entry: SourceEntry, source: string, keep: KeepText): DraftedEntry {
  const { file, line, deleted = none, faults, isPlain } = entry;
  if (faults.length > 0)
    return { file, line, records: none, namedGps: none, deleted: none, faults };
  const draft = (record: CanonicalRecord): Drafted => {
    const found = isPlain ? checkPlainRecord(record) : checkRecord(record);
    if (found.length === 0) return draftRecord(record, source, keep);
    return { faults: found, kind: record?.record, sourceId: record?.id };
  };
  const namedGps = entry.namedGps.length === 0 ? none : entry.namedGps.map(draft);
  return { file, line, records: entry.records.map(draft), namedGps, deleted, faults };
}

const none: readonly never[] = [];

/** Number of entries that share a promise. */
const entriesOfPiece = 256;

/** Drafts the entries of a source in this thread. */
export async function* draftEntries(
  entries: AsyncIterable<SourceEntry> | Iterable<SourceEntry>,
  source: string,
  texts: TextStore,
): AsyncGenerator<DraftedEntry[], void> {
  let piece: DraftedEntry[] = [];
  for await (const entry of entries) {
    piece.push(draftEntry(entry, source, texts.keep));
    if (piece.length < entriesOfPiece) continue;
    yield piece;
    piece = [];
  }
  yield piece;
}

/** Entries that another thread drafted. */
export interface DraftedBlock {
  /** The texts of their records are numbered from 0. */
  entries: DraftedEntry[];
  packed: PackedRecords;
}

/** Stores entries that other threads drafted. */
export async function* takeBlocks(
  blocks: AsyncIterable<DraftedBlock>,
  texts: TextStore,
): AsyncGenerator<DraftedEntry[], void> {
  for await (const { entries, packed } of blocks) {
    const first = texts.take(packed);
    for (const { records, namedGps } of entries) {
      for (const record of records) if ("text" in record) record.text += first;
      for (const gp of namedGps) if ("text" in gp) gp.text += first;
    }
    yield entries;
  }
}
