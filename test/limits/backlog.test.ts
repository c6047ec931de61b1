import assert from "node:assert/strict";
import { test } from "node:test";
import { openBacklog } from "#limits/journal.ts";
import { second } from "../support/limits-world.ts";

/** A disk that takes whole records while there is room, and then refuses, or for `hasRest` takes some bytes of one. */
function begin(room: number, { hasRest = false } = {}) {
  const disk = { room, tries: 0, written: [] as number[] };
  const write = (records: Buffer) => {
    disk.tries++;
    if (disk.room === 0 && records.length > 0 && !hasRest) throw new Error("no room");
    const whole = Math.min(disk.room, records.length / 24);
    for (let record = 0; record < whole; record++)
      disk.written.push(records.readUInt32LE(record * 24));
    disk.room -= whole;
    return whole;
  };
  const faults: string[] = [];
  const backlog = openBacklog(write, (error) => faults.push((error as Error).message));
  const record = Buffer.alloc(24);
  const add = (number: number, now: number) => {
    record.writeUInt32LE(number);
    backlog.add(record, now);
  };
  return { disk, faults, backlog, add };
}

test("a disk that refuses, or has room for some bytes of a record alone, is tried once a second, not at every request", () => {
  for (const hasRest of [false, true]) {
    const { disk, backlog, add } = begin(0, { hasRest });
    for (let number = 0; number < 1000; number++) add(number, number * 0.003 * second);
    assert.equal(disk.tries, 3);
    assert.ok(!backlog.isEmpty());
  }
});

test("what waited is written in its order and once, over several tries if need be", () => {
  const { disk, faults, backlog, add } = begin(2);
  for (let number = 0; number < 5; number++) add(number, 0);
  assert.deepEqual(disk.written, [0, 1]);
  disk.room = 2;
  add(5, second);
  assert.deepEqual(disk.written, [0, 1, 2, 3]);
  disk.room = 9;
  backlog.flush(2 * second);
  assert.deepEqual(disk.written, [0, 1, 2, 3, 4, 5]);
  assert.ok(backlog.isEmpty());
  assert.deepEqual(faults, ["no room", "ENOSPC: only a part could be written"]);
});

test("an endless outage takes no endless memory: 65,536 requests wait, further ones are counted in memory only", () => {
  const { disk, backlog, add } = begin(0);
  for (let number = 0; number < 70_000; number++) add(number, 0);
  disk.room = 100_000;
  backlog.flush(second);
  assert.equal(disk.written.length, 65_536);
});
