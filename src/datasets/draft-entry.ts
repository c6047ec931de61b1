/** Checks an importer's entries and drafts their records. Entries are independent, so any thread can draft them. */
import type { CanonicalRecord, RecordFault, RecordName, SourceEntry } from "#records/canonical.ts";
import type { RecordKind } from "#records/kinds.ts";
import { checkRecord } from "#records/check-record.ts";
import { type DraftedRecord, draftRecord, type KeepText } from "./draft-record.ts";
import { openPacker, type PackedRecords } from "./text-store.ts";

/** A drafted record, or the faults of a rejected one. The kind and id of a rejected record are unchecked JSON. */
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
  /** Records that the line asks to remove. */
  deleted: readonly RecordName[];
  /** Faults of the line itself. */
  faults: readonly RecordFault[];
}

/** Entries of a source that are processed together. */
export interface DraftedBlock {
  /** Entries, whose records' texts are numbered from 0 in `packed`. */
  entries: DraftedEntry[];
  packed: PackedRecords;
}

export function draftBlock(entries: readonly SourceEntry[], source: string): DraftedBlock {
  const packer = openPacker();
  const drafted = entries.map((entry) => draftEntry(entry, source, packer.keep));
  return { entries: drafted, packed: packer.take() };
}

/** Maximum number of entries in a block. */
const entriesOfBlock = 512;
/** Number of packed bytes at which a block ends. */
const bytesOfBlock = 1024 * 1024;

/** Drafts the entries of a source in the calling thread, each before the next is read: an entry may have 1 MiB. */
export async function* draftBlocks(
  entries: AsyncIterable<SourceEntry> | Iterable<SourceEntry>,
  source: string,
): AsyncGenerator<DraftedBlock, void> {
  const packer = openPacker();
  let block: DraftedEntry[] = [];
  for await (const entry of entries) {
    block.push(draftEntry(entry, source, packer.keep));
    if (block.length < entriesOfBlock && packer.bytes() < bytesOfBlock) continue;
    yield { entries: block, packed: packer.take() };
    block = [];
  }
  yield { entries: block, packed: packer.take() };
}

function draftEntry(entry: SourceEntry, source: string, keep: KeepText): DraftedEntry {
  const { file, line, deleted = none, faults, isPlain } = entry;
  if (faults.length > 0)
    return { file, line, records: none, namedGps: none, deleted: none, faults };
  const draft = (record: CanonicalRecord): Drafted => {
    const found = checkRecord(record, isPlain);
    if (found.length === 0) return draftRecord(record, source, keep);
    return { faults: found, kind: record?.record, sourceId: record?.id };
  };
  const namedGps = entry.namedGps.length === 0 ? none : entry.namedGps.map(draft);
  return { file, line, records: entry.records.map(draft), namedGps, deleted, faults };
}

const none: readonly never[] = [];
