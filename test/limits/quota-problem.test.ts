import assert from "node:assert/strict";
import { test } from "node:test";
import { openMemoryCounters } from "#limits/memory-counters.ts";
import type { Quotas } from "#limits/policy.ts";
import { failedKeysProblem, quotaProblem } from "#limits/quota-problem.ts";
import { clockOf, openWorld, second } from "../support/limits-world.ts";

/** The problem of the first refusal, the given seconds after as many requests as are admitted at once. */
function problemAfter(seconds: number, quotas: Quotas) {
  const world = openWorld();
  const counters = openMemoryCounters({
    dir: null,
    clock: clockOf(world),
    onFault: () => assert.fail(),
  });
  while (counters.take(1, quotas).admitted);
  world.now += seconds * second;
  return quotaProblem(counters.take(1, quotas));
}

test("a request that counts several is told how many those are, and how many are left", () => {
  const world = openWorld();
  const onFault = () => assert.fail();
  const counters = openMemoryCounters({ dir: null, clock: clockOf(world), onFault });
  const quotas = { minute: 60, hour: 2000, day: 10_000 };
  counters.take(1, quotas, 48);
  world.now += 20 * second;
  const { message } = quotaProblem(counters.take(1, quotas, 25), 25);
  assert.equal(
    message,
    "This counts 25 requests. 12 of the 60 of this minute are left. Try again in 40 seconds.",
  );
});

test("a refused request is told which quota is used up, when to try again, and where all windows stand", () => {
  const problem = problemAfter(37, { minute: 60, hour: 1000, day: 10_000 });
  assert.equal(problem.status, 429);
  assert.equal(problem.code, "quota-exceeded");
  assert.equal(
    problem.message,
    "All 60 requests of this minute are used. Try again in 23 seconds.",
  );
  assert.deepEqual(problem.members, {
    "violated-policies": ["minute"],
    retry_after: 23,
    policies: [
      { name: "minute", quota: 60, window: 60, remaining: 0, reset: 23 },
      { name: "hour", quota: 1000, window: 3600, remaining: 940, reset: 3563 },
      { name: "day", quota: 10_000, window: 86_400, remaining: 9940, reset: 86_363 },
    ],
  });
});

test("where several quotas are used up, the one that decides the wait is named", () => {
  const problem = problemAfter(10, { minute: 4, hour: 1000, day: 4 });
  assert.equal(
    problem.message,
    "All 4 requests of this day are used. Try again in 86,390 seconds.",
  );
  assert.deepEqual(problem.members["violated-policies"], ["minute", "day"]);
});

test("one request and one second are spoken of as one", () => {
  const problem = problemAfter(59, { minute: 1, hour: 5, day: 5 });
  assert.equal(problem.message, "The only request of this minute is used. Try again in 1 second.");
});

test("an address with too many wrong keys is told so, under a policy of its own", () => {
  const problem = failedKeysProblem({ admitted: false, retryAfterSeconds: 12 });
  assert.equal(
    problem.message,
    "30 wrong keys came from your address within a minute. Try again in 12 seconds.",
  );
  assert.deepEqual(problem.members, {
    "violated-policies": ["failed-keys"],
    retry_after: 12,
    policies: [{ name: "failed-keys", quota: 30, window: 60, remaining: 0, reset: 12 }],
  });
});
