/** Writes the documents of a draft, kind by kind in display order, and tells what changed. */
import type { DatabaseSync } from "node:sqlite";
import type { RecordKind } from "#records/canonical.ts";
import { hashOfContent, openContentDigest } from "./dataset-hash.ts";
import type { DraftRecord } from "./draft-record.ts";
import type { Known, Previous } from "./previous.ts";
import { comparable, documentOf, ownLengthOf, type Rendered } from "./render.ts";
import { openRowWriter } from "./rows.ts";
import { openChecksum } from "./served.ts";

/** How the records of a new generation differ from those of the previous one. */
export interface Changes {
  added: number;
  updated: number;
  removed: number;
}

/** Takes each kind once, in the order of `recordKinds`. */
export interface DocumentWriter {
  /**
   * Writes all records of a kind.
   * @param records emptied, so that a million records can be freed.
   * @param render called in display order.
   */
  write(
    kind: RecordKind,
    records: DraftRecord[],
    render: (record: DraftRecord, position: number) => Rendered,
  ): void;
  /** Hash over the content of all that was written, times excluded. */
  contentHash(): string;
  /** Over all documents, as it stands in `meta`. */
  checksum(): string;
  changes(): Changes;
}

const columns = 10;

/**
 * @param builtAt `updated_at` of what is new or changed and whose source gives no time.
 * @param onWritten called now and then with the number of records written so far.
 */
export function openDocumentWriter(
  draft: DatabaseSync,
  previous: Previous,
  builtAt: string,
  onWritten: (records: number) => void,
): DocumentWriter {
  const content = openContentDigest();
  const checksum = openChecksum();
  const changes: Changes = { added: 0, updated: 0, removed: 0 };
  let written = 0;
  const compare = (before: Known | undefined, hash: string, updatedAt: string) => {
    if (before === undefined) changes.added++;
    else changes.removed--;
    if (before !== undefined && (before.contentHash !== hash || before.updatedAt !== updatedAt))
      changes.updated++;
  };
  return {
    write(kind, records, render) {
      const known = previous.known(kind);
      // `compare` subtracts each one that is still there.
      changes.removed += known.size;
      const rows = openRowWriter(draft, kind, columns);
      sortForDisplay(kind, records).forEach((record, position) => {
        const rendered = render(record, position);
        const hash = hashOfContent(comparable(rendered));
        const before = known.size === 0 ? undefined : known.get(record.id);
        const updatedAt = updatedAtOf(record, hash, before, builtAt);
        const document = documentOf(rendered, updatedAt);
        compare(before, hash, updatedAt);
        content.add(hash);
        checksum.add(document);
        rows.add(
          position,
          record.id,
          record.source,
          record.sourceId,
          before?.since ?? builtAt,
          Buffer.from(hash, "hex"),
          updatedAt,
          record.statedAt === null ? 0 : 1,
          ownLengthOf(rendered, updatedAt),
          document,
        );
        if (++written % 1000 === 0) onWritten(written);
      });
      rows.end();
      records.length = 0;
    },
    contentHash: content.digest,
    checksum: checksum.digits,
    changes: () => changes,
  };
}

/** A record that did not change keeps its time. */
function updatedAtOf(
  { statedAt }: DraftRecord,
  contentHash: string,
  before: Known | undefined,
  builtAt: string,
): string {
  if (statedAt !== null) return statedAt;
  return before?.contentHash === contentHash ? before.updatedAt : builtAt;
}

/** Sorts in place. */
function sortForDisplay(kind: RecordKind, records: DraftRecord[]): DraftRecord[] {
  const greater = kind === "signal" ? -1 : 1;
  return records.sort((a, b) => {
    if (a.sortKey !== b.sortKey) return a.sortKey > b.sortKey ? greater : -greater;
    return a.id < b.id ? -1 : 1;
  });
}
