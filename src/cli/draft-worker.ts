/** Worker that drafts blocks of lines, so that an import uses more than one core. */
import { parentPort, workerData } from "node:worker_threads";
import { draftBlock } from "#datasets/draft-entry.ts";
import type { PackedRecords } from "#datasets/text-store.ts";
import { entriesOf, type LineBlock } from "#importers/ndjson.ts";

/** A drafted block. Its entries are JSON, which costs less to pass between threads than objects. */
export interface DraftReply {
  entries: string;
  packed: PackedRecords;
}

const source = workerData as string;

parentPort!.on("message", (block: LineBlock) => {
  const { entries, packed } = draftBlock(entriesOf(block), source);
  const reply: DraftReply = { entries: JSON.stringify(entries), packed };
  parentPort!.postMessage(reply, [packed.bytes.buffer]);
});
