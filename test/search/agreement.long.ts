import assert from "node:assert/strict";
import { test } from "node:test";
import { compareWithReference } from "../support/agreement.ts";

const counts = { gps: 180, principals: 320, signals: 320, projects: 60 };

test("10,000 random queries agree with the plain reference", { timeout: 500_000 }, async (t) => {
  let compared = 0;
  for (let seed = 100; compared < 10_000; seed++)
    compared += await compareWithReference(t, seed, counts, 200);
  assert.equal(compared, 10_000);
  t.diagnostic(`${compared} queries compared, seeds 100 to 149`);
});
