import assert from "node:assert/strict";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { linksIn, openTextStore, ownIn, type TextStore } from "#datasets/text-store.ts";

const path = join(mkdtempSync(join(tmpdir(), "text-store-")), "texts");

const unit = fc.constantFrom("a", "é", "ж", "\u{10330}", "\n");
const text = fc.oneof(
  { weight: 20, arbitrary: fc.string({ unit, maxLength: 60 }) },
  // Two of these fill a pack, and one is longer than any.
  { weight: 1, arbitrary: fc.constantFrom("a".repeat(400_000), "ж".repeat(1_200_000)) },
);
const pairs = fc.array(fc.tuple(text, text), { maxLength: 30 });

const textsAt = (store: TextStore, kept: number) => {
  const stored = store.read(kept);
  return [linksIn(stored), ownIn(stored)];
};

const keep = (store: TextStore, texts: readonly (readonly [string, string])[]) =>
  texts.map(([links, own]) => store.keep(links, own));

test("every text comes back as it was kept, from memory and from the file, also one longer than a pack", () => {
  fc.assert(
    fc.property(pairs, fc.constantFrom(0, 3e6, 1e9), (texts, max) => {
      const store = openTextStore(path, max);
      const kept = keep(store, texts);
      const found = kept.map((number) => textsAt(store, number));
      assert.deepEqual(found, texts);
      store.clear();
      assert.equal(existsSync(path), false);
    }),
    { numRuns: 100 },
  );
});
