import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { openTextStore } from "#datasets/text-store.ts";

test("every text comes back as it was kept, however long and in whatever letters", () => {
  const long = fc.nat({ max: 1_500_000 }).map((length) => "ж".repeat(length));
  const short = fc.string({ unit: fc.constantFrom("a", "é", "ж", "\u{10330}", "\n") });
  const text = fc.oneof({ weight: 9, arbitrary: short }, { weight: 1, arbitrary: long });
  fc.assert(
    fc.property(fc.array(text, { maxLength: 12 }), (texts) => {
      const store = openTextStore();
      const kept = texts.map((one) => store.keep(one));
      for (const [i, one] of texts.entries()) assert.ok(store.textOf(kept[i]!) === one);
    }),
    { numRuns: 25 },
  );
});
