import assert from "node:assert/strict";
import { once } from "node:events";
import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import threads, { type Worker } from "node:worker_threads";
import { usageFile } from "#store/sqlite-file.ts";
import { openUsage } from "#store/stores.ts";
import { readLastUse, type Batch } from "#usage/recording.ts";
import { sizeOf, type WriterOptions } from "#usage/writer.ts";
import { outcomeOf } from "../support/command-line.ts";
import { day, hour, noon } from "../support/control.ts";
import { forEachStore, storePlace } from "../support/for-each-store.ts";
import { canSetLimits, setLimit, whyNoLimits } from "../support/machine.ts";
import { freshDatabase, onPostgres } from "../support/postgres.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import {
  batchOf,
  countIn,
  idsIn,
  lockUsage,
  request,
  type TimedRequest,
  watchedWriter,
} from "../support/usage.ts";

const use = (key_id: string, second: number): Batch => ({
  ...batchOf([]),
  keyUse: [{ key_id, last_used_at: new Date(second * 1000).toISOString(), network: null }],
});

async function writerIn(t: TestContext, options: Partial<WriterOptions> = {}) {
  const dataDir = temporaryFolder(t);
  const watched = watchedWriter(t, { dataDir, busyMilliseconds: 20, ...options });
  const written = async () => {
    const usage = await openUsage(dataDir);
    const found = [...(await readLastUse(usage)).keys()].toSorted();
    await usage.close();
    return found;
  };
  return { dataDir, ...watched, written };
}

const requests = (count: number, otherwise: Partial<TimedRequest> = {}): Batch =>
  batchOf(
    Array.from({ length: count }, () => request(otherwise)),
    otherwise.at,
  );

/** Leaves this process so many that it may open. @returns what gives all of them back. */
function takeDescriptors(left: number): () => void {
  const [, before] = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))!;
  const taken: number[] = [];
  setLimit(process.pid, "nofile", `${readdirSync("/proc/self/fd").length + 20}:`);
  const takeAll = () => {
    while (taken.length < 100) taken.push(openSync("/dev/null", "r"));
  };
  assert.throws(takeAll, { code: "EMFILE" });
  for (const descriptor of taken.splice(0, left)) closeSync(descriptor);
  return () => {
    for (const descriptor of taken) closeSync(descriptor);
    setLimit(process.pid, "nofile", `${before}:`);
  };
}

test("a failing write is told once, kept, and written with the next batch, which is told once", async (t) => {
  const { dataDir, writer, written, faults } = await writerIn(t);
  writer.write(use("key_a", 1));
  await writer.settled();
  const unlock = await lockUsage(dataDir);
  for (const key of ["key_b", "key_c", "key_d"]) {
    writer.write(use(key, 2));
    await writer.settled();
  }
  assert.equal(faults.length, 1);
  assert.match(faults[0]!, /Another process is writing to .*usage\.sqlite/);
  unlock();
  writer.write(use("key_e", 3));
  await writer.settled();
  assert.deepEqual(faults.slice(1), [null]);
  assert.deepEqual(await written(), ["key_a", "key_b", "key_c", "key_d", "key_e"]);
  await writer.close();
});

test("a thread that cannot be started is told, and started later", async (t) => {
  const { writer, written, faults } = await writerIn(t);
  const mock = t.mock.method(threads, "Worker", function () {
    throw new Error("EAGAIN");
  });
  syncBuiltinESMExports();
  writer.write(use("key_a", 1));
  await writer.settled();
  mock.mock.restore();
  syncBuiltinESMExports();
  await writer.close();
  assert.deepEqual(faults, ["The thread that saves usage cannot be started: EAGAIN", null]);
  assert.deepEqual(await written(), ["key_a"]);
});

test("what waits is counted from the moment it is handed over until it is written", async (t) => {
  const { dataDir, writer } = await writerIn(t);
  const unlock = await lockUsage(dataDir);
  // Before the thread has started, while it is on its way, and while it is kept there.
  const [two, three] = [requests(2), requests(3)];
  const both = { requests: 5, bytes: sizeOf(two) + sizeOf(three) };
  const first = { requests: 2, bytes: sizeOf(two) };
  writer.write(two);
  assert.deepEqual(writer.waiting(), first);
  await writer.settled();
  assert.deepEqual(writer.waiting(), first);
  writer.write(three);
  assert.deepEqual(writer.waiting(), both);
  await writer.settled();
  assert.deepEqual(writer.waiting(), both);
  unlock();
  writer.write(requests(1));
  await writer.settled();
  assert.deepEqual(writer.waiting(), { requests: 0, bytes: 0 });
  await writer.close();
});

test("closing tries what is kept a last time", async (t) => {
  const { dataDir, writer, written, faults } = await writerIn(t);
  const unlock = await lockUsage(dataDir);
  writer.write(use("key_a", 1));
  await writer.settled();
  assert.equal(faults.length, 1);
  unlock();
  await writer.close();
  assert.deepEqual(await written(), ["key_a"]);
  assert.equal(faults.at(-1), null);
});

test("handing over does not wait for a lock that another process holds, and what is handed over waits together", async (t) => {
  const busyMilliseconds = 1000;
  const batches = 20;
  const { dataDir, writer } = await writerIn(t, { busyMilliseconds });
  const unlock = await lockUsage(dataDir);
  const began = performance.now();
  for (let second = 0; second < batches; second++) writer.write(use("key_a", second));
  const took = performance.now() - began;
  await writer.settled();
  const whole = performance.now() - began;
  assert.ok(took < busyMilliseconds, `${took} of ${whole} ms`);
  assert.ok(whole < (batches * busyMilliseconds) / 2, `${whole} ms`);
  unlock();
  await writer.close();
});

test("an older time that had to wait does not replace a newer one", async (t) => {
  const { dataDir, writer } = await writerIn(t);
  writer.write(use("key_a", 50));
  writer.write(use("key_a", 40));
  await writer.close();
  const usage = await openUsage(dataDir);
  assert.equal((await readLastUse(usage)).get("key_a")!.at, "1970-01-01T00:00:50.000Z");
  await usage.close();
});

test("a thread that cannot be started for want of file descriptors loses nothing, and tells what it cannot keep at the end (Linux)", async (t) => {
  if (!canSetLimits) return t.skip(whyNoLimits);
  // The thread wants five for itself, one to load its modules, and two more for its store.
  for (const left of [0, 5, 6]) {
    const { writer, faults, dataDir } = await writerIn(t);
    const last = await writerIn(t);
    const giveBack = takeDescriptors(left);
    try {
      for (const requestId of ["req_a", "req_b"]) {
        writer.write(requests(1, { requestId }));
        await writer.settled();
      }
      last.writer.write(requests(3));
      await last.writer.close();
    } finally {
      giveBack();
    }
    assert.match(faults.join("\n"), /EMFILE|too many open files|cannot be opened/);
    assert.equal(last.writer.lostCount(), 3);
    writer.write(requests(1, { requestId: "req_c" }));
    await writer.settled();
    assert.deepEqual(faults.slice(1), [null]);
    assert.equal(writer.lostCount(), 0);
    assert.deepEqual((await idsIn(dataDir)).toSorted(), ["req_a", "req_b", "req_c"]);
  }
});

test("a thread that ends while nothing waits is told at once, and the next batch starts another", async (t) => {
  const started = once(process, "worker") as Promise<[Worker]>;
  const { writer, written, faults } = await writerIn(t);
  writer.write(use("key_a", 1));
  await writer.settled();
  const [thread] = await started;
  await thread.terminate();
  assert.deepEqual(faults, ["The thread that saves usage ended."]);
  writer.write(use("key_b", 2));
  await writer.settled();
  assert.deepEqual(faults.slice(1), [null]);
  await writer.close();
  assert.deepEqual(await written(), ["key_a", "key_b"]);
  assert.equal(faults.length, 2);
});

test("what cannot be written is kept up to a bound; beyond it the oldest is lost, and told how much", async (t) => {
  const keptBytesMax = 3 * sizeOf(requests(5));
  const { dataDir, writer, faults } = await writerIn(t, { keptBytesMax });
  const unlock = await lockUsage(dataDir);
  for (const requestId of ["a", "b", "c"]) {
    writer.write(requests(5, { requestId: `req_${requestId}` }));
    await writer.settled();
  }
  assert.deepEqual([writer.lostCount(), writer.waiting().requests], [0, 15]);
  for (const requestId of ["d", "e"]) {
    writer.write(requests(5, { requestId: `req_${requestId}` }));
    await writer.settled();
  }
  assert.deepEqual([writer.lostCount(), writer.waiting().requests], [10, 15]);
  unlock();
  await writer.close();
  assert.deepEqual(faults.slice(1), [null]);
  assert.equal(writer.lostCount(), 10);
  assert.deepEqual([...new Set(await idsIn(dataDir))], ["req_c", "req_d", "req_e"]);
});

test("what a thread that cannot keep up has not taken yet is bounded, too", async (t) => {
  const keptBytesMax = 2 * sizeOf(requests(5));
  const { dataDir, writer } = await writerIn(t, { keptBytesMax });
  for (let batch = 0; batch < 5; batch++) writer.write(requests(5));
  assert.equal(writer.lostCount(), 15);
  await writer.close();
  assert.equal((await idsIn(dataDir)).length, 10);
});

test("a batch that cannot be written leaves nothing of itself, and is not counted twice", async (t) => {
  const { dataDir, writer } = await writerIn(t);
  writer.write(requests(3));
  await writer.settled();
  const other = new DatabaseSync(usageFile(dataDir), { timeout: 5000 });
  other.exec(
    "create trigger refuse before insert on request when new.id = cast('req_bad' as blob) begin select raise(abort, 'no'); end",
  );
  const bad = [request({ requestId: "req_good" }), request({ requestId: "req_bad" })];
  writer.write(batchOf(bad));
  await writer.settled();
  other.exec("drop trigger refuse");
  other.close();
  writer.write(requests(1));
  await writer.close();
  assert.equal(await countIn(dataDir), 6);
  assert.equal((await idsIn(dataDir)).length, 6);
});

forEachStore("a NUL in what was asked and an answer of many hours are recorded", async (t) => {
  const place = await storePlace(t);
  const { writer, faults } = watchedWriter(t, place);
  writer.write(requests(1, { query: "a=\0", milliseconds: 8 * hour }));
  await writer.close();
  assert.deepEqual([faults, writer.lostCount(), await idsIn(place)], [[], 0, ["req_1"]]);
});

onPostgres(
  "a batch refused for its data is lost at once, and told; the next is written",
  async (t) => {
    const place = { dataDir: temporaryFolder(t), databaseUrl: await freshDatabase(t) };
    const losses: number[] = [];
    const { writer, faults } = watchedWriter(t, { ...place, onLoss: (lost) => losses.push(lost) });
    // Times are whole milliseconds.
    for (let batch = 0; batch < 2; batch++) writer.write(requests(2, { at: noon + 0.5 }));
    writer.write(requests(1, { requestId: "req_b" }));
    await writer.settled();
    for (const fault of faults.slice(0, 2))
      assert.match(fault!, /invalid input syntax for type bigint/);
    assert.deepEqual([faults.slice(2), await idsIn(place)], [[null], ["req_b"]]);
    assert.deepEqual([losses.at(-1), writer.lostCount()], [4, 4]);
  },
);

test("what is too old goes beside what is written, and beyond the rows that are kept the oldest", async (t) => {
  const { dataDir, writer } = await writerIn(t, { retention: { logDays: 2, logRowsMax: 3000 } });
  writer.write(requests(4000, { at: noon - 2 * day - hour, requestId: "old" }));
  writer.write(requests(10, { at: noon - day, requestId: "young" }));
  writer.write(requests(3000, { at: noon, requestId: "new" }));
  for (let found = 0; found !== 3000; found = (await idsIn(dataDir)).length) {
    writer.write(requests(0));
    await writer.settled();
  }
  await writer.close();
  assert.deepEqual([...new Set(await idsIn(dataDir))], ["new"]);
});

forEachStore("the oldest of a batch go if it alone is too large", async (t) => {
  const place = await storePlace(t);
  const { writer } = watchedWriter(t, { ...place, retention: { logDays: 2, logRowsMax: 3 } });
  writer.write(batchOf([1, 2, 3, 4, 5].map((i) => request({ requestId: `${i}` }))));
  for (let left = 5; left > 3; left = (await idsIn(place)).length) {
    writer.write(requests(0));
    await writer.settled();
  }
  assert.deepEqual(await idsIn(place), ["3", "4", "5"]);
});

forEachStore("what was written is there after kill -9", async (t) => {
  const { dataDir, databaseUrl } = await storePlace(t);
  const script = join(import.meta.dirname, "../support/usage-until-killed.ts");
  const args = [script, dataDir, ...(databaseUrl === null ? [] : [databaseUrl])];
  const { exitCode, err } = await outcomeOf(process.execPath, args, process.env);
  assert.deepEqual({ exitCode, err }, { exitCode: null, err: "" });
  assert.deepEqual(await idsIn({ dataDir, databaseUrl }), ["req_1"]);
});

test("the memory of a batch is given back as soon as it is written", async (t) => {
  const { writer } = await writerIn(t);
  const batch = batchOf([request()]);
  const { bytes, ...rest } = batch.requests;
  const [batches, batchBytes] = [8, 4 * 1024 * 1024];
  const before = process.memoryUsage().arrayBuffers;
  for (let i = 0; i < batches; i++) {
    const larger = new ArrayBuffer(batchBytes);
    new Uint8Array(larger).set(new Uint8Array(bytes));
    writer.write({ ...batch, requests: { ...rest, bytes: larger } });
    await writer.settled();
  }
  assert.ok(process.memoryUsage().arrayBuffers - before < (batches * batchBytes) / 2);
});
