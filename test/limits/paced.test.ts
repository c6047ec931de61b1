import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate, setTimeout } from "node:timers/promises";
import { paced } from "#limits/journal.ts";

// `setTimeout(0)` below is no pause: timers of one length end in the order they were set, so what was due has begun.

/** A job that runs until it is told to end, and says when it has begun. */
function slowJob() {
  const started: (() => void)[] = [];
  const ends: (() => void)[] = [];
  let count = 0;
  const job = async () => {
    count++;
    started.shift()?.();
    await new Promise<void>((resolve) => ends.push(resolve));
  };
  const nextStart = () => new Promise<void>((resolve) => started.push(resolve));
  return { job, nextStart, end: () => ends.shift()!(), count: () => count };
}

test("a job asked for while it runs runs once more, not at the same time", async () => {
  const { job, nextStart, end, count } = slowJob();
  const pace = paced(0, () => 0, job);
  const first = nextStart();
  pace.ask();
  await first;
  pace.ask();
  pace.ask();
  await setTimeout(0);
  assert.equal(count(), 1);
  const second = nextStart();
  end();
  await second;
  pace.stop();
  end();
  assert.equal(count(), 2);
});

test("a job begins at once after a long pause, and else only when its time has come", async () => {
  const { job, nextStart, end, count } = slowJob();
  let now = 0;
  const pace = paced(3_600_000, () => now, job);
  const runOnce = async () => {
    const start = nextStart();
    pace.ask();
    await start;
    end();
    await setImmediate();
  };
  await runOnce();
  now += 3_600_000;
  await runOnce();
  now += 3_599_000;
  pace.ask();
  await setTimeout(0);
  assert.equal(count(), 2);
  pace.stop();
});

test("nothing begins after it is stopped", async () => {
  const { job, count } = slowJob();
  const pace = paced(0, () => 0, job);
  pace.ask();
  pace.stop();
  await setTimeout(0);
  assert.equal(count(), 0);
});
