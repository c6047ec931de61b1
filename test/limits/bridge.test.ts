import assert from "node:assert/strict";
import { test } from "node:test";
import { elapsedMicroseconds } from "#limits/read-journal.ts";
import { day, hour, minute, second } from "../support/limits-world.ts";

const last = { monotonicMicroseconds: 11 * day, wallMilliseconds: 1_795_000_000_000 };
const after = (monotonicMicroseconds: number, wallMicroseconds: number) => ({
  monotonicMicroseconds,
  wallMilliseconds: last.wallMilliseconds + wallMicroseconds / 1000,
});

test("across a reboot the wall clock tells the time that passed, less the millisecond it may hide", () => {
  assert.equal(elapsedMicroseconds(last, after(20 * second, 5 * minute)), 5 * minute - 1000);
});

test("with a wall clock set back, the time since the boot has passed for sure", () => {
  assert.equal(elapsedMicroseconds(last, after(20 * second, -day)), 20 * second);
});

test("a clock that may be the same in a new container gives no more than its difference", () => {
  assert.equal(elapsedMicroseconds(last, after(11 * day + 3 * second, -day)), 3 * second);
  assert.equal(elapsedMicroseconds(last, after(11 * day, -1)), 0);
});

test("a wall clock set forward is believed: the known limit", () => {
  assert.equal(elapsedMicroseconds(last, after(20 * second, hour)), hour - 1000);
});
