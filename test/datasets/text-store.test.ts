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

test("every text comes back as it was kept, from memory and from the file, one by one and packed by another thread", () => {
  fc.assert(
    fc.property(pairs, pairs, pairs, fc.constantFrom(0, 300, 1e6), (one, packed, last, max) => {
      const store = openTextStore(path, max);
      const keep = ([links, own]: readonly [string, string]) => store.keep(links, own);
      const kept = one.map(keep);
      const packer = openPacker();
      const places = packed.flatMap(([links, own]) => packer.add(links, own));
      const first = store.take({ bytes: packer.take(), places });
      kept.push(...packed.map((_, i) => first + i));
      kept.push(...last.map(keep));
      assert.deepEqual(
        kept.map((number) => textsAt(store, number)),
        [...one, ...packed, ...last],
      );
      store.clear();
      assert.equal(existsSync(path), false);
    }),
    { numRuns: 500 },
  );
});

test("texts are kept beyond one pack, and a text longer than a pack comes back whole", () => {
  const store = openTextStore(path, 3_000_000);
  const texts = Array.from({ length: 40 }, (_, i) => `${i}`.repeat(100_000));
  texts.push("ж".repeat(3_000_000));
  const kept = texts.map((one) => store.keep("", one));
  kept.forEach((number, i) => assert.equal(ownIn(store.read(number)), texts[i]));
  store.clear();
  assert.equal(ownIn(store.read(store.keep("", "after"))), "after");
  store.clear();
});
