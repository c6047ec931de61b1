import assert from "node:assert/strict";
import { test } from "node:test";
import {
  append,
  countIn,
  openLog,
  resetIn,
  shrink,
  type SlidingLog,
  waitIn,
} from "#limits/sliding-log.ts";

function add(log: SlidingLog, now: number): void {
  for (let window = 0; window < log.windows.length; window++) countIn(log, window, now);
  append(log, now);
}

test("a time is counted until exactly one window later, and not then", () => {
  const log = openLog([60, 100]);
  add(log, 7);
  assert.equal(countIn(log, 0, 66), 1);
  assert.equal(countIn(log, 0, 67), 0);
  assert.equal(countIn(log, 1, 106), 1);
  assert.equal(countIn(log, 1, 107), 0);
});

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

test("the wait is until a quota is undercut, also one that was lowered far below what is counted", () => {
  const log = openLog([100], [1, 2, 3, 4, 5]);
  assert.equal(waitIn(log, 0, 6, 10), 0);
  assert.equal(waitIn(log, 0, 5, 10), 91);
  assert.equal(waitIn(log, 0, 2, 10), 94);
});

test("a log that gave memory back still counts right in a window that had not moved along", () => {
  const log = openLog([10, 12]);
  for (let request = 0; request < 64; request++) add(log, 0);
  add(log, 9);
  assert.ok(shrink(log, 13));
  assert.equal(countIn(log, 0, 13), 1);
});
