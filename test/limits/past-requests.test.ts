import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { beginJournal } from "../support/limits-journal.ts";
import { day, hour, minute, reboot, second } from "../support/limits-world.ts";

test("a wall clock set back across a reboot gives no quota, and locks out for one window at most", (t) => {
  const { world, open } = beginJournal(t);
  open().take(10);
  reboot(world, hour);
  world.now += 20 * second;
  world.wallOffsetMilliseconds -= day / 1000;
  const counters = open();
  assert.equal(counters.take(1), 0);
  world.now += 40 * second;
  assert.equal(counters.take(1), 1);
});

test("a wall clock set forward across a reboot is believed: the known limit", (t) => {
  const { world, open } = beginJournal(t);
  open().take(10);
  reboot(world, second);
  world.wallOffsetMilliseconds += day / 1000;
  assert.equal(open().take(10), 10);
});

test("a monotonic clock below what the same boot recorded locks out for one window at most", (t) => {
  const { world, open } = beginJournal(t);
  open().take(10);
  world.bootedAt += hour;
  const counters = open();
  assert.equal(counters.take(1), 0);
  world.now += minute;
  assert.equal(counters.take(11), 10);
});

test("files with damaged headers are bridged each by itself, for they may be of different boots", (t) => {
  const { world, open, path } = beginJournal(t);
  for (let boots = 0; boots < 2; boots++) {
    open().take(3);
    const damaged = readFileSync(path(boots));
    damaged[20]! ^= 1;
    writeFileSync(path(boots), damaged);
    reboot(world, 10 * minute);
    world.now += minute;
  }
  assert.equal(open().counted(), 6);
});
