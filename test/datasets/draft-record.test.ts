import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { inByteOrder } from "#datasets/draft-record.ts";

test("texts compare as their UTF-8 does, beyond the basic plane too", () => {
  const unit = fc.constantFrom(..."a~é\ud7ff\ue000豈\uffff\u{10000}\u{10330}\u{10ffff}");
  const text = fc.string({ unit, maxLength: 5 });
  fc.assert(
    fc.property(text, text, (a, b) => {
      const [one, other] = [inByteOrder(a), inByteOrder(b)];
      const order = one < other ? -1 : one > other ? 1 : 0;
      assert.equal(order, Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b))));
    }),
    { numRuns: 2000 },
  );
});
