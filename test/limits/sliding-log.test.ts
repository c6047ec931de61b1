import assert from "node:assert/strict";
import { test } from "node:test";
import { append, countIn, openLog, resetIn, shrink, type SlidingLog } from "#limits/sliding-log.ts";

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
