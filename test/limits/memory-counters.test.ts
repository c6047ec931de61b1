import assert from "node:assert/strict";
import { test } from "node:test";
import type { QuotaStatus } from "#limits/counters.ts";
import { openMemoryCounters } from "#limits/memory-counters.ts";
import { defaultQuotas, type Quotas } from "#limits/policy.ts";
import { clockOf, day, hour, minute, openWorld, second } from "../support/limits-world.ts";

function begin() {
  const world = openWorld();
  const onFault = () => assert.fail("without a journal there is no fault");
  const counters = openMemoryCounters({ dir: null, clock: clockOf(world), onFault });
  const take = (account = 1, quotas: Quotas = defaultQuotas) => counters.take(account, quotas);
  const takeMany = (count: number, account = 1, quotas: Quotas = defaultQuotas) =>
    Array.from({ length: count }, () => take(account, quotas)).filter(({ admitted }) => admitted)
      .length;
  return { world, counters, take, takeMany };
}

const leftIn = (quotaStatus: QuotaStatus) => quotaStatus.windows.map(({ remaining }) => remaining);
const resetOf = (quotaStatus: QuotaStatus) =>
  quotaStatus.windows.map(({ resetSeconds }) => resetSeconds);

test("60 requests of a minute are admitted, the 61st is refused and told when to come again", () => {
  const { world, take } = begin();
  for (let left = 59; left >= 0; left--) {
    const quotaStatus = take();
    assert.ok(quotaStatus.admitted);
    assert.deepEqual(leftIn(quotaStatus), [left, 940 + left, 9940 + left]);
    assert.equal(quotaStatus.retryAfterSeconds, 0);
    world.now += 0.5 * second;
  }
  const refused = take();
  assert.ok(!refused.admitted);
  assert.deepEqual(refused.violated, ["minute"]);
  assert.equal(refused.retryAfterSeconds, 30);
  assert.deepEqual(leftIn(refused), [0, 940, 9940]);
});

test("windows slide: a burst at the end of one minute and another at the begin of the next do not both pass", () => {
  const { world, takeMany } = begin();
  world.now += 59 * second;
  assert.equal(takeMany(60), 60);
  world.now += 2 * second;
  assert.equal(takeMany(60), 0);
  world.now += 58 * second - 1;
  assert.equal(takeMany(1), 0);
  world.now += 1;
  assert.equal(takeMany(61), 60);
});

test("an hour admits 1,000 and a day 10,000, and the window that binds is named", () => {
  const { world, take, takeMany } = begin();
  let admitted = 0;
  for (let minutes = 0; minutes < 17; minutes++, world.now += minute) admitted += takeMany(60);
  assert.equal(admitted, 1000);
  assert.deepEqual(take().violated, ["hour"]);
  assert.equal(take().retryAfterSeconds, 3600 - 17 * 60);
  while (world.now < 23 * hour) {
    admitted += takeMany(60);
    world.now += minute;
  }
  assert.equal(admitted, 10_000);
  assert.deepEqual(take().violated, ["day"]);
  assert.equal(take().retryAfterSeconds, 3600);
  world.now += 3600 * second;
  assert.equal(takeMany(100), 60);
});

test("a refusal is counted in no window, so refused requests never prolong the wait", () => {
  const { world, take, takeMany } = begin();
  takeMany(60);
  for (let refusals = 0; refusals < 59; refusals++) {
    world.now += second;
    const refused = take();
    assert.equal(refused.retryAfterSeconds, 59 - refusals);
    assert.deepEqual(leftIn(refused), [0, 940, 9940]);
  }
  world.now += second;
  assert.deepEqual(leftIn(take()), [59, 939, 9939]);
});

test("Retry-After is rounded up: true at the first try, and a second earlier it is not", () => {
  const { world, take, takeMany } = begin();
  takeMany(60);
  world.now += 1;
  assert.equal(take().retryAfterSeconds, 60);
  world.now += 59 * second;
  assert.equal(take().retryAfterSeconds, 1);
  world.now += second;
  assert.ok(take().admitted);
});

test("the wait is that of the window that refuses longest, and each says its own", () => {
  const { take, takeMany } = begin();
  const quotas = { minute: 2, hour: 2, day: 5 };
  takeMany(2, 1, quotas);
  const refused = take(1, quotas);
  assert.deepEqual(refused.violated, ["minute", "hour"]);
  assert.deepEqual(
    refused.windows.map(({ waitSeconds }) => waitSeconds),
    [60, 3600, 0],
  );
  assert.equal(refused.retryAfterSeconds, 3600);
});

test("the reset is when the oldest request leaves a window, and 0 for a window that counts none", () => {
  const { world, take } = begin();
  const quotas = { minute: 5, hour: 2, day: 5 };
  assert.deepEqual(resetOf(take(1, quotas)), [60, 3600, 86_400]);
  world.now += 10.2 * second;
  assert.deepEqual(resetOf(take(1, quotas)), [50, 3590, 86_390]);
  world.now += 2 * minute;
  const refused = take(1, quotas);
  assert.ok(!refused.admitted);
  assert.deepEqual(resetOf(refused), [0, 3470, 86_270]);
  assert.deepEqual(leftIn(refused), [5, 0, 3]);
});

test("accounts do not spend each other's quota", () => {
  const { takeMany } = begin();
  assert.equal(takeMany(70, 1), 60);
  assert.equal(takeMany(70, 2), 60);
  assert.equal(takeMany(1, 1), 0);
});

test("a lowered quota holds from the next request on, for what is counted already too", () => {
  const { world, take, takeMany } = begin();
  const steps = Array.from({ length: 10 }, () => {
    world.now += second;
    return take().admitted;
  });
  assert.ok(steps.every(Boolean));
  const lowered = { minute: 3, hour: 1000, day: 10_000 };
  const refused = take(1, lowered);
  assert.deepEqual(leftIn(refused), [0, 990, 9990]);
  assert.equal(refused.retryAfterSeconds, 58);
  world.now += 58 * second;
  assert.equal(takeMany(2, 1, lowered), 1);
});

test("a raised quota admits more at once", () => {
  const { takeMany } = begin();
  assert.equal(takeMany(60), 60);
  assert.equal(takeMany(50, 1, { minute: 100, hour: 1000, day: 10_000 }), 40);
});

test("a wall clock that is set gives no quota and takes none", () => {
  const { world, takeMany } = begin();
  takeMany(60);
  for (const step of [day, -3 * day]) {
    world.wallOffsetMilliseconds += step / 1000;
    assert.equal(takeMany(1), 0);
  }
  world.now += minute;
  assert.equal(takeMany(61), 60);
});

test("a monotonic clock that breaks its promise and steps back neither frees quota nor makes waits longer than a window", () => {
  const { world, take, takeMany } = begin();
  takeMany(60);
  world.now -= hour;
  assert.equal(take().retryAfterSeconds, 60);
});

test("100,000 requests of 1,000 accounts are each decided right", () => {
  const { world, takeMany } = begin();
  let admitted = 0;
  for (let round = 0; round < 2; round++, world.now += minute)
    for (let account = 1; account <= 1000; account++) admitted += takeMany(50, account);
  assert.equal(admitted, 100_000);
});

test("accounts that fell silent are forgotten after a day, so memory is bounded by those that are active", () => {
  const { world, counters, take, takeMany } = begin();
  for (let account = 2; account <= 20_000; account++) take(account);
  assert.equal(counters.accountCount(), 19_999);
  world.now += day - 1;
  takeMany(40_000, 1);
  assert.equal(counters.accountCount(), 20_000);
  world.now += 1;
  takeMany(40_000, 1);
  assert.equal(counters.accountCount(), 1);
});

test("what cannot be the number of an account is an error, not another account", () => {
  const { take } = begin();
  for (const account of [0, -1, 1.5, 2 ** 32, Number.NaN])
    assert.throws(() => take(account), RangeError);
});

test("a look says what the next request would meet, and counts nothing", () => {
  const { counters, take, takeMany } = begin();
  const look = () => counters.look(1, defaultQuotas);
  assert.deepEqual(leftIn(look()), [60, 1000, 10_000]);
  take();
  for (let i = 0; i < 100; i++) assert.deepEqual(leftIn(look()), [59, 999, 9999]);
  assert.equal(takeMany(60), 59);
  const { admitted, retryAfterSeconds } = look();
  assert.deepEqual({ admitted, retryAfterSeconds }, { admitted: false, retryAfterSeconds: 60 });
  assert.deepEqual(leftIn(counters.look(2, defaultQuotas)), [60, 1000, 10_000]);
  assert.equal(counters.accountCount(), 1);
});

test("a request that counts several is admitted as a whole or counted in no window, and its wait is true", () => {
  const { world, counters, takeMany } = begin();
  const takeWhole = (requests: number) => counters.take(1, defaultQuotas, requests);
  assert.deepEqual(leftIn(takeWhole(50)), [10, 950, 9950]);
  world.now += 30 * second;
  assert.equal(takeMany(5), 5);
  const refused = takeWhole(6);
  assert.deepEqual(leftIn(refused), [5, 945, 9945]);
  assert.deepEqual([refused.violated, refused.retryAfterSeconds], [["minute"], 30]);
  assert.ok(takeWhole(5).admitted);
  world.now += 30 * second;
  assert.ok(takeWhole(50).admitted);
  // Ten were counted half a minute ago, and they are not enough.
  assert.equal(takeWhole(11).retryAfterSeconds, 60);
  assert.equal(takeWhole(10).retryAfterSeconds, 30);
});

test("what no wait would admit is an error, and nobody is told to wait for it", () => {
  const { counters } = begin();
  for (const requests of [61, 0, -1, 1.5, Number.NaN])
    assert.throws(() => counters.take(1, defaultQuotas, requests), RangeError);
  assert.ok(counters.take(1, defaultQuotas, 60).admitted);
});
