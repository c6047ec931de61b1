/** Writes the documents of a draft, kind by kind in display order, and counts the changes. */
import type { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import type { RecordKind } from "#records/kinds.ts";
import { type DocumentPlaces, placeDocuments } from "#search/documents.ts";
import { hashOfContent, openContentDigest } from "./dataset-hash.ts";
import { type DraftRecord, readLinks, type StoredLinks } from "./draft-record.ts";
import type { Known, Previous } from "./previous.ts";
import { type Frame, timeMember } from "./render.ts";
import { openRowWriter } from "./rows.ts";
import { hexadecimal } from "./served.ts";
import { linksIn, type StoredText, type TextStore } from "./text-store.ts";

/** Numbers of records that differ from the previous generation. */
export interface Changes {
  added: number;
  updated: number;
  removed: number;
}

/** Writer of documents, which takes each kind once, in the order of `recordKinds`. */
export interface DocumentWriter {
  /**
   * Writes all records of a kind.
   * @param records list that is emptied, so that a million records can be freed.
   * @param frameOf called in display order.
   * @returns the places of the documents.
   */
  write(kind: RecordKind, records: DraftRecord[], frameOf: FrameOf): DocumentPlaces;
  /** Returns the hash over all written content, without times. */
  contentHash(): string;
  /** Returns the checksum over all documents, as in `meta`. */
  checksum(): string;
  changes(): Changes;
}

/** Function that frames a record. @param stored contains the record's own part. */
type FrameOf = (
  record: DraftRecord,
  position: number,
  links: StoredLinks,
  stored: StoredText,
) => Frame;

interface WriterRequest {
  draft: DatabaseSync;
  /** Generation that changes are counted against. */
  previous: Previous;
  texts: TextStore;
  /** `updated_at` of new or changed records whose source gives no time. */
  builtAt: string;
  /** Called now and then with the number of records written so far. */
  onWritten: (records: number) => void;
}

/** A row whose document is bytes: SQLite copies them as they are, but would have to encode a string. */
const row = `(${"?, ".repeat(9)}cast(? as text))`;
const columns = 10;

export function openDocumentWriter({
  draft,
  previous,
  texts,
  builtAt,
  onWritten,
}: WriterRequest): DocumentWriter {
  const content = openContentDigest();
  const changes: Changes = { added: 0, updated: 0, removed: 0 };
  const assembly = openAssembly();
  let checksum = 0;
  let written = 0;
  const compare = (before: Known | undefined, hash: string, updatedAt: string) => {
    if (before === undefined) changes.added++;
    else changes.removed--;
    if (before !== undefined && (before.contentHash !== hash || before.updatedAt !== updatedAt))
      changes.updated++;
  };
  return {
    write(kind, records, frameOf) {
      const known = previous.known(kind);
      // `compare` subtracts each record that is still there.
      changes.removed += known.size;
      const rows = openRowWriter(draft, kind, columns, row);
      const lengths = new Uint32Array(records.length);
      const ownLengths = new Uint32Array(records.length);
      sortForDisplay(kind, records).forEach((record, position) => {
        const stored = texts.read(record.text);
        const links = readLinks(linksIn(stored));
        const contentBytes = assembly.begin(frameOf(record, position, links, stored), stored);
        const hash = hashOfContent(contentBytes);
        const before = known.size === 0 ? undefined : known.get(record.id);
        const updatedAt = updatedAtOf(links, hash, before, builtAt);
        const { document, ownLength } = assembly.end(updatedAt);
        compare(before, hash, updatedAt);
        content.add(hash);
        lengths[position] = document.length;
        ownLengths[position] = ownLength;
        const isBatchWritten = rows.add(
          position,
          record.id,
          record.source,
          record.sourceId,
          before?.since ?? builtAt,
          Buffer.from(hash, "hex"),
          updatedAt,
          links.statedAt === null ? 0 : 1,
          ownLength,
          document,
        );
        if (isBatchWritten) checksum = crc32(assembly.clear(), checksum);
        if (++written % 1000 === 0) onWritten(written);
      });
      rows.end();
      checksum = crc32(assembly.clear(), checksum);
      records.length = 0;
      return placeDocuments(lengths, ownLengths);
    },
    contentHash: content.digest,
    checksum: () => hexadecimal(checksum),
    changes: () => changes,
  };
}

/** Maximum bytes of a time and of the constant parts of a document. */
const assemblySpare = 256;
/** Maximum bytes of UTF-8 for one UTF-16 code unit. */
const unitBytesMax = 3;

/** Returns an assembly of documents as bytes, one after the other. */
function openAssembly() {
  let bytes = Buffer.allocUnsafeSlow(256 * 1024);
  let start = 0;
  let timeAt = 0;
  let end = 0;
  return {
    /** Begins a document. @returns it without its time, valid until `end`. */
    begin({ head, tail }: Frame, { bytes: stored, own, end: ownEnd }: StoredText): Uint8Array {
      const units = head.length + tail.length;
      const needed = end + units * unitBytesMax + (ownEnd - own) + assemblySpare;
      if (needed > bytes.length) {
        // Documents that wait to be written keep the old buffer.
        const larger = Buffer.allocUnsafeSlow(needed * 2);
        larger.set(bytes.subarray(0, end));
        bytes = larger;
      }
      start = end;
      end += bytes.write(head, end, "latin1");
      end += stored.copy(bytes, end, own, ownEnd);
      end += bytes.write(timeMember, end, "latin1");
      timeAt = end;
      end += bytes.write(tail, end, "utf8");
      return bytes.subarray(start, end);
    },
    /** Ends a document. @returns it with its time, valid until `clear`. */
    end(updatedAt: string): { document: Uint8Array; ownLength: number } {
      bytes.copyWithin(timeAt + updatedAt.length, timeAt, end);
      bytes.write(updatedAt, timeAt, "latin1");
      end += updatedAt.length;
      const ownLength = timeAt + updatedAt.length + 1 - start;
      return { document: bytes.subarray(start, end), ownLength };
    },
    /** Starts again. @returns all documents since the last time, valid until `begin`. */
    clear(): Uint8Array {
      const all = bytes.subarray(0, end);
      end = 0;
      return all;
    },
  };
}

/** Returns the time of a record. A record that did not change keeps its own. */
function updatedAtOf(
  { statedAt }: StoredLinks,
  contentHash: string,
  before: Known | undefined,
  builtAt: string,
): string {
  if (statedAt !== null) return statedAt;
  return before?.contentHash === contentHash ? before.updatedAt : builtAt;
}

/** Sorts records in place, in display order. */
function sortForDisplay(kind: RecordKind, records: DraftRecord[]): DraftRecord[] {
  const greater = kind === "signal" ? -1 : 1;
  return records.sort((a, b) => {
    if (a.sortKey !== b.sortKey) return a.sortKey > b.sortKey ? greater : -greater;
    return a.id < b.id ? -1 : 1;
  });
}
