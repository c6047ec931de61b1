import assert from "node:assert/strict";
import { test } from "node:test";
import { draftBlocks } from "#datasets/draft-entry.ts";
import type { SourceEntry } from "#records/canonical.ts";
import { gp } from "./published.ts";

/** Entries of a GP with 90 kB of names. Each loses its GP when the next is asked for. */
function* passing(count: number): Generator<SourceEntry> {
  const aliases = Array.from({ length: 900 }, (_, i) => `${i} `.padEnd(100, "n"));
  for (let line = 1; line <= count; line++) {
    const records = [gp(`${line}`, { aliases })] as unknown as SourceEntry["records"];
    yield { file: "large.csv", line, records, namedGps: [], faults: [] };
    records.length = 0;
  }
}

test("a block ends by what its texts take as well as by its entries, and no entry is kept until then", async () => {
  const blocks = await Array.fromAsync(draftBlocks(passing(100), "own"));
  assert.ok(blocks.length > 5);
  for (const { packed } of blocks) assert.ok(packed.bytes.length < 1.5 * 2 ** 20);
  const entries = blocks.flatMap((block) => block.entries);
  assert.equal(entries.length, 100);
  for (const { records } of entries) assert.ok("text" in records[0]!, JSON.stringify(records));
});
