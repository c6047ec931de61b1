import assert from "node:assert/strict";
import { test } from "node:test";
import { compareWithReference } from "../support/agreement.ts";

test("answers agree with the plain reference on random awkward records and queries", async (t) => {
  let compared = 0;
  for (const seed of [1, 2, 3])
    compared += await compareWithReference(
      t,
      seed,
      { gps: 150, principals: 120, signals: 120, projects: 60 },
      200,
    );
  assert.equal(compared, 600);
});
