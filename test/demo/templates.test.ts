/** Sentences with gaps. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fill, template } from "#demo/templates.ts";

const echo = (gap: string) => gap.toUpperCase();

test("each gap is filled where it stands, at the ends and side by side too", () => {
  assert.equal(fill(template("{gp} buys {project}"), echo), "GP buys PROJECT");
  assert.equal(fill(template("{a}{b}, then {a}."), echo), "AB, then A.");
  assert.equal(fill(template("no gap"), echo), "no gap");
});
