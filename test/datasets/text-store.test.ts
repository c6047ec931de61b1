import assert from "node:assert/strict";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { linksIn, openPacker, openTextStore, ownIn, type TextStore } from "#datasets/text-store.ts";

const path = join(mkdtempSync(join(tmpdir(), "text-store-")), "texts");

const unit = fc.constantFrom("a", "é", "ж", "\u{10330}", "\n");
const text = fc.string({ unit, maxLength: 60 });
const pairs = fc.array(fc.tuple(text, text), { maxLength: 30 });

const textsAt = (store: TextStore, kept: number) => {
  const stored = store.read(kept);
  return [linksIn(stored), ownIn(stored)];
};

const keep = (store: TextStore, texts: readonly (readonly [string, string])[]) => {
  const packer = openPacker();
  for (const [links, own] of texts) packer.keep(links, own);
  const first = store.take(packer.take());
  return texts.map((_, i) => first + i);
};

test("every text comes back as it was kept, from memory and from the file, also one longer than a pack begins with", () => {
  const large: [string, string] = ["", "ж".repeat(3_000_000)];
  fc.assert(
    fc.property(fc.array(pairs), fc.constantFrom(0, 300, 1e6), (packs, max) => {
      const store = openTextStore(path, max);
      const kept = packs.flatMap((texts) => keep(store, texts));
      const found = kept.map((number) => textsAt(store, number));
      assert.deepEqual(found, packs.flat());
      store.clear();
      assert.equal(existsSync(path), false);
    }),
    { numRuns: 500, examples: [[[[["", "1"]], [large], [["2", ""]]], 3_000_000]] },
  );
});
