import assert from "node:assert/strict";
import { test } from "node:test";
import { openMemoryCounters } from "#limits/memory-counters.ts";
import { defaultQuotas } from "#limits/policy.ts";
import { rateLimitField, rateLimitPolicyField } from "#gateway/headers.ts";
import { clockOf, openWorld, second } from "../support/limits-world.ts";

test("RateLimit-Policy tells the account's own numbers", () => {
  assert.equal(
    rateLimitPolicyField(defaultQuotas),
    '"minute";q=60;w=60, "hour";q=1000;w=3600, "day";q=10000;w=86400',
  );
  assert.equal(
    rateLimitPolicyField({ minute: 5, hour: 20, day: 1_000_000 }),
    '"minute";q=5;w=60, "hour";q=20;w=3600, "day";q=1000000;w=86400',
  );
});

test("RateLimit tells what is left and when some of it returns, on a refusal too", () => {
  const world = openWorld();
  const counters = openMemoryCounters({
    dir: null,
    clock: clockOf(world),
    onFault: () => assert.fail(),
  });
  const quotas = { minute: 2, hour: 10, day: 100 };
  assert.equal(
    rateLimitField(counters.take(1, quotas)),
    '"minute";r=1;t=60, "hour";r=9;t=3600, "day";r=99;t=86400',
  );
  world.now += 12.3 * second;
  const expected = '"minute";r=0;t=48, "hour";r=8;t=3588, "day";r=98;t=86388';
  assert.equal(rateLimitField(counters.take(1, quotas)), expected);
  assert.equal(rateLimitField(counters.take(1, quotas)), expected);
});
