import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { openTextStore } from "#datasets/text-store.ts";

test("every text comes back as it was kept, whether or not it fits into what is left, or into anything", () => {
  const unit = fc.constantFrom("a", "é", "ж", "\u{10330}", "\n");
  const text = fc.string({ unit, maxLength: 60 });
  fc.assert(
    fc.property(fc.array(text, { maxLength: 30 }), (texts) => {
      const store = openTextStore(100);
      const kept = texts.map((one) => store.keep(one));
      assert.deepEqual(kept.map(store.textOf), texts);
      store.clear();
      assert.equal(store.textOf(store.keep("after")), "after");
    }),
    { numRuns: 500 },
  );
});
