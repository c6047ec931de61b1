/** Drafts the records of a block of lines, in whichever thread has the time. */
import { type DraftedBlock, draftEntry } from "#datasets/draft-entry.ts";
import { openPacker } from "#datasets/text-store.ts";
import { entriesOf, type LineBlock } from "#importers/ndjson.ts";

export function draftBlock(block: LineBlock, source: string): DraftedBlock {
  const packer = openPacker();
  const places: number[] = [];
  const keep = (links: string, own: string) => places.push(...packer.add(links, own)) / 3 - 1;
  const entries = entriesOf(block).map((entry) => draftEntry(entry, source, keep));
  return { entries, packed: { bytes: packer.take(), places } };
}
