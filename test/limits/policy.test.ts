import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultQuotas, quotaFault } from "#limits/policy.ts";

test("an account has 60 requests a minute, 1,000 an hour and 10,000 a day unless told otherwise", () => {
  assert.deepEqual(defaultQuotas, { minute: 60, hour: 1000, day: 10_000 });
});

test("a quota is a whole number from 1 to 1,000,000", () => {
  for (const usable of [1, 60, 1_000_000]) assert.equal(quotaFault(usable), undefined);
  for (const unusable of [
    0,
    -1,
    1.5,
    1_000_001,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    "60",
    null,
    undefined,
  ])
    assert.equal(quotaFault(unusable), "must be a whole number from 1 to 1000000");
});
