import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { systemClock } from "#limits/clocks.ts";
import type { QuotaStatus } from "#limits/counters.ts";
import {
  append,
  countIn,
  openLog,
  openMemoryCounters,
  resetIn,
  shrink,
  type SlidingLog,
} from "#limits/memory-counters.ts";
import { defaultQuotas, type Quotas } from "#limits/policy.ts";
import { inMemory, runLives } from "../support/limits-life.ts";
import { clockOf, day, hour, openWorld } from "../support/limits-world.ts";

function begin() {
  const world = openWorld();
  const counters = openMemoryCounters(clockOf(world));
  const take = (account = 1, quotas: Quotas = defaultQuotas) => counters.take(account, quotas);
  const takeMany = (count: number, account = 1, quotas: Quotas = defaultQuotas) =>
    Array.from({ length: count }, () => take(account, quotas)).filter(({ admitted }) => admitted)
      .length;
  return { world, counters, take, takeMany };
}

const leftIn = (quotaStatus: QuotaStatus) => quotaStatus.windows.map(({ remaining }) => remaining);

test("the wait is that of the window that refuses longest, and each says its own", () => {
  const { take, takeMany } = begin();
  const quotas = { minute: 2, hour: 2, day: 5 };
  takeMany(2, 1, quotas);
  const refused = take(1, quotas);
  assert.deepEqual(refused.violated, ["minute", "hour"]);
  const waits = refused.windows.map(({ waitSeconds }) => waitSeconds);
  assert.deepEqual(waits, [60, 3600, 0]);
  assert.equal(refused.retryAfterSeconds, 3600);
});

test("a monotonic clock that breaks its promise and steps back neither frees quota nor makes waits longer than a window", () => {
  const { world, take, takeMany } = begin();
  takeMany(60);
  world.now -= hour;
  assert.equal(take().retryAfterSeconds, 60);
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

function add(log: SlidingLog, now: number): void {
  for (let window = 0; window < log.windows.length; window++) countIn(log, window, now);
  append(log, now);
}

test("a log that grows around its end keeps every time in order", () => {
  const log = openLog([1000]);
  for (let now = 0; now < 5000; now++) {
    add(log, now);
    assert.equal(countIn(log, 0, now), Math.min(now + 1, 1000));
    assert.equal(resetIn(log, 0, now), Math.max(0, now - 999) + 1000 - now);
  }
});

test("memory follows what is counted, up and down again", () => {
  const log = openLog([10, 1000]);
  assert.ok(log.times.length <= 8);
  for (let now = 0; now < 1000; now++) add(log, now);
  assert.equal(log.times.length, 1024);
  assert.ok(shrink(log, 1900));
  assert.ok(log.times.length <= 256);
  assert.equal(countIn(log, 1, 1900), 99);
  assert.equal(countIn(log, 0, 1900), 0);
  assert.ok(!shrink(log, 1999));
  assert.ok(log.times.length <= 8);
});

test("a log that gave memory back still counts right in a window that had not moved along", () => {
  const log = openLog([10, 12]);
  for (let request = 0; request < 64; request++) add(log, 0);
  add(log, 9);
  assert.ok(shrink(log, 13));
  assert.equal(countIn(log, 0, 13), 1);
});

test("in 300 random lives no window admits more than its quota and none refuses below it", async (t) => {
  const tally = await runLives(t, inMemory, 300);
  for (const [event, count] of Object.entries(tally))
    assert.ok(count > 100, `${event} happened only ${count} times`);
});

test("the monotonic clock is the same in every process of a boot, in whole microseconds", () => {
  const clock = systemClock();
  const read = `import { systemClock } from "#limits/clocks.ts"; console.log(systemClock().monotonicMicroseconds())`;
  const before = clock.monotonicMicroseconds();
  const inAnother = Number(
    execFileSync(process.execPath, ["--input-type=module-typescript", "-e", read]),
  );
  const after = clock.monotonicMicroseconds();
  assert.ok(before < inAnother && inAnother < after, `${before} < ${inAnother} < ${after}`);
  assert.ok(Number.isInteger(before));
});

test("on Linux the boot is known by its id", { skip: process.platform !== "linux" }, () => {
  assert.match(systemClock().bootId ?? "", /^[0-9a-f-]{36}$/);
});
