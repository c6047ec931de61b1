import assert from "node:assert/strict";
import { mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { crc32 } from "node:zlib";
import { clock } from "#doctor/clock.ts";
import { counts } from "#doctor/counts.ts";
import { headerBytes } from "#limits/segments.ts";
import { flipByte } from "../support/damage.ts";
import { finding } from "../support/doctor.ts";
import { beginJournal } from "../support/limits-journal.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const recordBytes = 24;
const hourMilliseconds = 3_600_000;
/** When the journals of these tests were written. */
const written = Date.UTC(2026, 10, 21);
const soon = { now: written + hourMilliseconds };

test("whole counts are well; a folder without any is not made", async (t) => {
  const { open, dir } = beginJournal(t);
  open().take(5);
  const { found } = await finding("ok", counts, dir, soon);
  assert.equal(found, "5 requests in files of counts: 1");
  assert.match((await finding("ok", counts, temporaryFolder(t))).found, /nothing is counted yet/);
});

test("counts cut off at any byte of the last record are said to be harmless", async (t) => {
  const { open, dir, path } = beginJournal(t);
  open().take(5);
  const whole = readFileSync(path(0)).length;
  for (let missing = 1; missing < recordBytes; missing++) {
    truncateSync(path(0), whole - missing);
    const { found } = await finding("ok", counts, dir, soon);
    assert.match(found, /^4 requests .*; 1 cut off within a record, .* harmless$/);
  }
});

test("a last record half written, and space without content behind it, are said to be harmless", async (t) => {
  const { open, dir, path } = beginJournal(t);
  open().take(5);
  flipByte(path(0), headerBytes + 4 * recordBytes + 20);
  writeFileSync(path(0), Buffer.alloc(100 * recordBytes), { flag: "a" });
  assert.match((await finding("ok", counts, dir, soon)).found, /^4 requests .* harmless$/);
});

test("damage in the middle of counts is named with what it costs", async (t) => {
  const { open, dir, path } = beginJournal(t);
  open().take(5);
  flipByte(path(0), headerBytes + 2 * recordBytes);
  const { found, mend } = await finding("warn", counts, dir, soon);
  assert.equal(found, `${path(0)} is damaged: 1 of 5 requests in it are not held against anyone`);
  assert.match(mend, /^Nothing, for the counts/);
});

test("a damaged header and another format are named", async (t) => {
  const { open, dir, path } = beginJournal(t);
  open().take(5);
  flipByte(path(0), 20);
  assert.match((await finding("warn", counts, dir, soon)).found, /has a damaged header/);
  flipByte(path(0), 20);
  const newer = readFileSync(path(0));
  newer.writeUInt32LE(2, 8);
  newer.writeUInt32LE(crc32(newer.subarray(16, headerBytes), crc32(newer.subarray(0, 12))), 12);
  writeFileSync(path(0), newer);
  const { found, mend } = await finding("warn", counts, dir, soon);
  assert.match(found, /cannot be read \(it has format 2/);
  assert.ok(mend.endsWith(`rm ${path(0)}`), mend);
});

test("counts that merely cannot be read now are not to be removed", async (t) => {
  const dataDir = temporaryFolder(t);
  const path = join(dataDir, "counts", "00000001.counts");
  mkdirSync(dirname(path));
  // The memory of a process can be opened and its first byte not be read, whoever asks: root may read any file.
  symlinkSync("/proc/self/mem", path);
  const { found, mend } = await finding("fail", counts, dataDir, soon);
  assert.ok(found.startsWith(`${path} could not be looked at: E`), found);
  assert.doesNotMatch(mend, /\brm\b/);
});

test("counts older than a day are said to go by themselves", async (t) => {
  const { open, dir } = beginJournal(t);
  open().take(5);
  const { found } = await finding("ok", counts, dir, { now: written + 25 * hourMilliseconds });
  assert.match(found, /; 1 without one of the last day, which the server deletes$/);
});

test("a clock that stands before the newest request was set back, and is named", async (t) => {
  const { open, dir, path } = beginJournal(t);
  open().take(5);
  await finding("ok", clock, dir, soon);
  const { found, mend } = await finding("fail", clock, dir, { now: written - hourMilliseconds });
  assert.ok(found.includes(`the newest request in ${path(0)} is of 2026-11-21T00:00:00Z`), found);
  assert.match(mend, /timedatectl set-ntp true/);
});
