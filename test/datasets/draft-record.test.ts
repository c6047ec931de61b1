import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { inByteOrder, mintId } from "#datasets/draft-record.ts";

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

test("ids that were once published are minted for ever", () => {
  assert.equal(mintId("gp", "own", "northwind"), "gp_xiwvz670pob5cm13");
  assert.equal(mintId("signal", "sec_form_d", "0001912345-26-000001"), "sg_sewdmfsgaoh6f5fe");
});

test("one id of a source in four kinds and two sources gives eight ids", () => {
  const kinds = ["gp", "principal", "signal", "project"] as const;
  const ids = kinds.flatMap((kind) => ["a", "b"].map((source) => mintId(kind, source, "7")));
  assert.equal(new Set(ids).size, 8);
  for (const id of ids) assert.match(id, /^(gp|pr|sg|pj)_[0-9a-z]{16}$/);
});
