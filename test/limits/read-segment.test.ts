import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { crc32 } from "node:zlib";
import { headerBytes } from "#limits/segments.ts";
import { beginJournal } from "../support/limits-journal.ts";
import { day } from "../support/limits-world.ts";

test("a file cut off anywhere gives all records before the cut", (t) => {
  const { open, path } = beginJournal(t);
  open().take(5);
  const whole = readFileSync(path(0));
  assert.equal(whole.length, headerBytes + 5 * 24);
  const file = path(0);
  for (let length = 0; length <= whole.length; length++) {
    writeFileSync(file, whole.subarray(0, length));
    const expected = Math.max(0, Math.floor((length - headerBytes) / 24));
    const counters = open();
    assert.equal(counters.counted(), expected, `cut at ${length}`);
    counters.close();
    rmSync(path(-1));
  }
});

test("a flipped byte costs the record it is in, in a header none", (t) => {
  const { open, path } = beginJournal(t);
  open().take(3);
  const whole = readFileSync(path(0));
  const file = path(0);
  for (let offset = 0; offset < whole.length; offset++) {
    const flipped = Buffer.from(whole);
    flipped[offset]! ^= 1 << (offset % 8);
    writeFileSync(file, flipped);
    const counters = open();
    assert.equal(counters.counted(), offset < headerBytes ? 3 : 2, `flipped at ${offset}`);
    counters.close();
    rmSync(path(-1));
  }
});

test("space without content at the end of a file, as a power failure leaves it, is no request", (t) => {
  const { open, path } = beginJournal(t);
  open().take(3);
  writeFileSync(path(0), Buffer.alloc(24 * 100), { flag: "a" });
  assert.equal(open().counted(), 3);
});

test("a file of another format version is named, left alone, and hinders nothing", async (t) => {
  const { world, open, files, path, faults } = beginJournal(t);
  open().take(3);
  const newer = readFileSync(path(0));
  newer.writeUInt32LE(2, 8);
  newer.writeUInt32LE(crc32(newer.subarray(16, headerBytes), crc32(newer.subarray(0, 12))), 12);
  writeFileSync(path(0).replace("00000001", "00000007"), newer);
  world.now += 2 * day;
  assert.equal(open().counted(), 0);
  assert.deepEqual(files(), ["00000007.counts", "00000008.counts"]);
  assert.match(
    faults[0]!,
    /00000007\.counts cannot be read: it has format 2, this program reads 1\./,
  );
});
