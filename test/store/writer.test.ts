import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { openUsage, usageFile } from "#store/stores.ts";
import { openWriter } from "#store/writer.ts";
import { readLastUse } from "#usage/key-use.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const use = (key_id: string, second: number) => ({
  kind: "keyUse" as const,
  rows: [{ key_id, last_used_at: new Date(second * 1000).toISOString() }],
});

async function writerIn(t: TestContext) {
  const dataDir = temporaryFolder(t);
  const faults: (string | null)[] = [];
  const onFault = (fault: Error | null) => void faults.push(fault && fault.message);
  const writer = openWriter({ dataDir, onFault, busyMilliseconds: 20 });
  t.after(() => writer.close());
  const written = async () => {
    const usage = await openUsage(dataDir);
    const found = [...(await readLastUse(usage)).keys()].toSorted();
    await usage.close();
    return found;
  };
  return { dataDir, faults, writer, written };
}

/** Holds the write lock as another process would. */
function lockOf(dataDir: string) {
  const other = new DatabaseSync(usageFile(dataDir));
  other.exec("begin immediate");
  return () => {
    other.exec("rollback");
    other.close();
  };
}

test("what was handed over is on disk once it has settled", async (t) => {
  const { writer, written, faults } = await writerIn(t);
  writer.write(use("key_a", 1));
  writer.write(use("key_b", 2));
  await writer.settled();
  assert.deepEqual(await written(), ["key_a", "key_b"]);
  await writer.close();
  assert.deepEqual(faults, []);
});

test("closing writes what was handed over just before", async (t) => {
  const { writer, written } = await writerIn(t);
  for (let second = 0; second < 100; second++) writer.write(use(`key_${second}`, second));
  await writer.close();
  assert.equal((await written()).length, 100);
});

test("a failing write is told once, kept, and written with the next batch, which is told once", async (t) => {
  const { dataDir, writer, written, faults } = await writerIn(t);
  writer.write(use("key_a", 1));
  await writer.settled();
  const unlock = lockOf(dataDir);
  for (const key of ["key_b", "key_c", "key_d"]) {
    writer.write(use(key, 2));
    await writer.settled();
  }
  assert.equal(faults.length, 1);
  assert.match(faults[0]!, /Another process is writing .*usage\.sqlite/);
  unlock();
  writer.write(use("key_e", 3));
  await writer.settled();
  assert.deepEqual(faults.slice(1), [null]);
  assert.deepEqual(await written(), ["key_a", "key_b", "key_c", "key_d", "key_e"]);
  await writer.close();
});

test("closing tries what is kept a last time", async (t) => {
  const { dataDir, writer, written, faults } = await writerIn(t);
  await (await openUsage(dataDir)).close();
  const unlock = lockOf(dataDir);
  writer.write(use("key_a", 1));
  await writer.settled();
  assert.equal(faults.length, 1);
  unlock();
  await writer.close();
  assert.deepEqual(await written(), ["key_a"]);
  assert.equal(faults.at(-1), null);
});

test("handing over a batch does not wait for a lock that another process holds", async (t) => {
  const { dataDir, writer } = await writerIn(t);
  await (await openUsage(dataDir)).close();
  const unlock = lockOf(dataDir);
  const began = performance.now();
  for (let second = 0; second < 20; second++) writer.write(use("key_a", second));
  const took = performance.now() - began;
  await writer.settled();
  const whole = performance.now() - began;
  assert.ok(took < whole / 4, `${took} of ${whole} ms`);
  unlock();
  await writer.close();
});

test("an older time that had to wait does not replace a newer one", async (t) => {
  const { dataDir, writer } = await writerIn(t);
  writer.write(use("key_a", 50));
  writer.write(use("key_a", 40));
  await writer.close();
  const usage = await openUsage(dataDir);
  assert.equal((await readLastUse(usage)).get("key_a"), "1970-01-01T00:00:50.000Z");
  await usage.close();
});
