import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs, {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { access } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { crc32 } from "node:zlib";
import { systemClock } from "#limits/clocks.ts";
import { openBacklog, headerBytes, recordBytes } from "#limits/journal.ts";
import type { Quotas } from "#limits/policy.ts";
import {
  clockOf,
  day,
  hour,
  minute,
  openLastingCounters,
  openWorld,
  reboot,
  second,
  temporaryFolder,
} from "../support/limits-world.ts";
import { settles } from "../support/still-well.ts";

const ofTheJournal: Quotas = { minute: 10, hour: 100, day: 1000 };

/** Counters that are not closed stand for a process that was killed; they are closed when the test is over. */
function beginJournal(t: TestContext) {
  const world = openWorld();
  const dir = temporaryFolder(t);
  const faults: (string | null)[] = [];
  const open = (onFault = (fault: Error | null) => void faults.push(fault?.message ?? null)) => {
    const counters = openLastingCounters({ dir, clock: clockOf(world), onFault });
    t.after(() => counters.close());
    /** Without keeping it. */
    const count = (account: number) => counters.take(account, ofTheJournal).admitted;
    const takeOne = (account: number) => {
      const quotaStatus = counters.take(account, ofTheJournal);
      counters.commit();
      return quotaStatus;
    };
    const take = (count = 1, account = 1) =>
      Array.from({ length: count }, () => takeOne(account)).filter(({ admitted }) => admitted)
        .length;
    const counted = (account = 1) => ofTheJournal.day - 1 - takeOne(account).windows[2]!.remaining;
    return { ...counters, take, count, counted };
  };
  const files = () => readdirSync(join(dir, "counts")).sort();
  const path = (index: number) => join(dir, "counts", files().at(index)!);
  return { world, dir, faults, open, files, path };
}

test("counts of several accounts and several runs come back, each its own", (t) => {
  const { open } = beginJournal(t);
  const first = open();
  first.take(3, 1);
  first.take(10, 4_294_967_295);
  first.close();
  open().take(4, 1);
  const last = open();
  assert.equal(last.take(10, 1), 3);
  assert.equal(last.take(10, 4_294_967_295), 0);
  assert.equal(last.take(10, 2), 10);
});

test("what was counted is written when it is kept, all of it at once", (t) => {
  const { open, path } = beginJournal(t);
  const counters = open();
  const empty = statSync(path(0)).size;
  for (let account = 1; account <= 3; account++)
    for (let i = 0; i < account; i++) counters.count(account);
  assert.equal(statSync(path(0)).size, empty);
  counters.commit();
  assert.equal(statSync(path(0)).size, empty + 6 * recordBytes);
  counters.commit();
  assert.equal(statSync(path(0)).size, empty + 6 * recordBytes);
  const after = open();
  const found = [1, 2, 3].map((account) => after.counted(account));
  assert.deepEqual(found, [1, 2, 3]);
});

test("what nobody keeps is written with the next sync, and before it takes endless memory", async (t) => {
  const { open, path } = beginJournal(t);
  const counters = open();
  const empty = statSync(path(0)).size;
  for (let account = 1; account <= 1000; account++) counters.count(account);
  const atOnce = (statSync(path(0)).size - empty) / recordBytes;
  assert.ok(atOnce > 500 && atOnce < 1000, `${atOnce} written`);
  await settles(() => statSync(path(0)).size === empty + 1000 * recordBytes);
  assert.equal(statSync(path(0)).size, empty + 1000 * recordBytes);
});

test("counts after the last number of eight digits are read again", (t) => {
  const { dir, open, faults, files } = beginJournal(t);
  mkdirSync(join(dir, "counts"));
  writeFileSync(join(dir, "counts", "99999999.counts"), "");
  open().take(3);
  assert.equal(open().counted(), 3);
  assert.deepEqual([files(), faults], [["100000000.counts", "100000001.counts"], []]);
});

test("a pipe among the counts does not hold up the start", (t) => {
  const { dir, open, faults } = beginJournal(t);
  mkdirSync(join(dir, "counts"));
  assert.equal(spawnSync("mkfifo", [join(dir, "counts", "00000001.counts")]).status, 0);
  open().take(3);
  assert.deepEqual([open().counted(), faults], [3, []]);
});

test("a folder that cannot be used is named once, requests are answered and counted, and saved when it can be", async (t) => {
  const { world, dir, open, faults } = beginJournal(t);
  writeFileSync(join(dir, "counts"), "not a folder");
  const { promise, resolve } = Promise.withResolvers<void>();
  const counters = open((fault) => {
    faults.push(fault?.message ?? null);
    if (fault === null) resolve();
  });
  assert.equal(counters.take(5), 5);
  rmSync(join(dir, "counts"));
  world.now += second;
  assert.equal(counters.take(6), 5);
  await promise;
  assert.equal(faults.length, 2);
  assert.match(faults[0]!, /^Request counts cannot be saved in .*counts: EEXIST/);
  assert.equal(open().take(1), 0);
});

test("on a full disk requests are answered, and what was cut off is saved whole later", (t) => {
  if (process.platform === "win32") return t.skip();
  const { world, dir, open, files, path } = beginJournal(t);
  const script = join(import.meta.dirname, "../support/limits-full-disk.ts");
  // 8 blocks of 512 bytes hold the header and 167 2/3 records.
  const child = spawnSync(
    "sh",
    ["-c", 'ulimit -f 8; exec "$@"', "sh", process.execPath, script, dir],
    { encoding: "utf8" },
  );
  const [fault, remaining, ...rest] = child.stdout.trim().split("\n");
  assert.match(fault!, /^Request counts cannot be saved in .*counts: ENOSPC/);
  assert.equal(remaining, "999 999 699");
  assert.deepEqual(rest, []);
  assert.equal(files().length, 2);
  assert.equal(statSync(path(0)).size, 4096);
  world.now += hour;
  assert.equal(open().counted(), 301);
});

test("files begin anew each hour and at each start, and go when a day has passed over all they hold", (t) => {
  const { world, open, files } = beginJournal(t);
  const counters = open();
  for (let hours = 0; hours < 30; hours++, world.now += hour) counters.take(1);
  // In hour 29 the request of hour 5 is just a day old.
  const kept = Array.from(
    { length: 24 },
    (_, index) => `${String(index + 7).padStart(8, "0")}.counts`,
  );
  assert.deepEqual(files(), kept);
  assert.equal(open().counted(), 23);
  world.now += 2 * day;
  assert.equal(open().counted(), 0);
  assert.equal(files().length, 1);
});

test("while no new file can be made the old one serves on, and nothing is lost or reported", (t) => {
  const { world, dir, open, files, faults } = beginJournal(t);
  const counters = open();
  counters.take(2);
  renameSync(join(dir, "counts"), join(dir, "away"));
  writeFileSync(join(dir, "counts"), "not a folder");
  world.now += hour;
  counters.take(3);
  rmSync(join(dir, "counts"));
  renameSync(join(dir, "away"), join(dir, "counts"));
  assert.equal(files().length, 1);
  world.now += second;
  counters.take(4);
  assert.equal(files().length, 2);
  assert.deepEqual(faults, []);
  assert.equal(open().counted(), 9);
});

test("a file that cannot be closed is reported, and its counts are kept", async (t) => {
  const { world, dir, open, faults } = beginJournal(t);
  const counters = open();
  counters.take(2);
  world.now += hour;
  const close = fs.closeSync;
  const closing = t.mock.method(fs, "closeSync", (fd: number) => {
    close(fd);
    throw new Error("EIO: i/o error, close");
  });
  syncBuiltinESMExports();
  counters.take(1);
  for (let passed = 0; passed < 100 && faults.length === 0; passed++) await access(dir);
  closing.mock.restore();
  syncBuiltinESMExports();
  assert.match(faults[0]!, /EIO: i\/o error, close/);
  assert.equal(open().counted(), 3);
});

test("a file or a folder that cannot be read stays a fault when other counts are saved", async (t) => {
  for (const [what, prevent] of [
    [/00000007\.counts cannot be read: EISDIR/, makeFolderOfFile],
    [/counts cannot be read: EIO/, failToList],
  ] as const) {
    const { dir, open, faults } = beginJournal(t);
    const allow = prevent(t, join(dir, "counts"));
    t.mock.timers.enable({ apis: ["setInterval"] });
    const counters = open();
    allow();
    counters.take(1);
    t.mock.timers.tick(1000);
    for (let passed = 0; passed < 100; passed++) await access(dir);
    t.mock.timers.reset();
    assert.equal(faults.length, 1);
    assert.match(faults[0]!, what);
  }
});

function makeFolderOfFile(_: TestContext, counts: string) {
  mkdirSync(join(counts, "00000007.counts"), { recursive: true });
  return () => {};
}

function failToList(t: TestContext) {
  const fault = Object.assign(new Error("EIO: i/o error, scandir"), { syscall: "scandir" });
  const list = fs.readdirSync;
  let isFirst = true;
  const listing = t.mock.method(fs, "readdirSync", (folder: string) => {
    if (!isFirst) return list(folder);
    isFirst = false;
    throw fault;
  });
  syncBuiltinESMExports();
  return () => {
    listing.mock.restore();
    syncBuiltinESMExports();
  };
}

test("an idle service saves what waits as soon as the folder can be used", async (t) => {
  const { dir } = beginJournal(t);
  writeFileSync(join(dir, "counts"), "not a folder");
  const isWell = Promise.withResolvers<void>();
  const onFault = (fault: Error | null) => fault === null && isWell.resolve();
  const counters = openLastingCounters({ dir, clock: systemClock(), onFault });
  t.after(() => counters.close());
  counters.take(1, ofTheJournal);
  rmSync(join(dir, "counts"));
  await isWell.promise;
  const next = openLastingCounters({ dir, clock: systemClock(), onFault });
  t.after(() => next.close());
  assert.equal(next.take(1, ofTheJournal).windows[2]!.remaining, ofTheJournal.day - 2);
});

test("closing saves what waits, if it can be saved by then", (t) => {
  const { dir, open } = beginJournal(t);
  writeFileSync(join(dir, "counts"), "not a folder");
  const counters = open();
  counters.take(5);
  rmSync(join(dir, "counts"));
  counters.close();
  assert.equal(open().counted(), 5);
});

test("only the owner can read the counts", { skip: process.platform === "win32" }, (t) => {
  const { dir, open, path } = beginJournal(t);
  open().take(1);
  assert.equal(statSync(join(dir, "counts")).mode & 0o777, 0o700);
  assert.equal(statSync(path(0)).mode & 0o777, 0o600);
});

test("nothing is reported after closing, even if the folder is gone before the last sync is done", async (t) => {
  const { world, dir, open, faults } = beginJournal(t);
  const counters = open();
  counters.take(1);
  world.now += hour;
  counters.take(1);
  counters.close();
  rmSync(dir, { recursive: true });
  for (let passed = 0; passed < 10; passed++) await access(import.meta.dirname);
  assert.deepEqual(faults, []);
});

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
  assert.deepEqual(faults, ["no room", "ENOSPC: only a part of the file could be written"]);
});

test("an endless outage takes no endless memory: 65,536 requests wait, further ones are counted in memory only", () => {
  const { disk, backlog, add } = begin(0);
  for (let number = 0; number < 70_000; number++) add(number, 0);
  disk.room = 100_000;
  backlog.flush(second);
  assert.equal(disk.written.length, 65_536);
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
    /00000007\.counts cannot be read: it has format 2, but this program reads format 1\./,
  );
});
