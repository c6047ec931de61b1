import assert from "node:assert/strict";
import { existsSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { controlStore, usageStore } from "#doctor/stores.ts";
import { writers } from "#doctor/writers.ts";
import { openControl, openUsage } from "#store/stores.ts";
import { scribble } from "../support/damage.ts";
import { finding, look } from "../support/doctor.ts";
import { holdDatabase } from "../support/holder-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

async function folderWithStores(t: TestContext) {
  const dataDir = temporaryFolder(t);
  await (await openControl(dataDir)).close();
  await (await openUsage(dataDir)).close();
  return {
    dataDir,
    control: join(dataDir, "control.sqlite"),
    usage: join(dataDir, "usage.sqlite"),
  };
}

test("whole databases are well, and looking at them leaves nothing beside them", async (t) => {
  const { dataDir } = await folderWithStores(t);
  for (const store of [controlStore, usageStore]) {
    assert.match((await finding("ok", store, dataDir)).found, /is whole \(quick_check\)/);
    const thorough = await finding("ok", store, dataDir, { isThorough: true });
    assert.match(thorough.found, /is whole \(integrity_check\)/);
  }
  assert.deepEqual(readdirSync(dataDir), ["control.sqlite", "usage.sqlite"]);
});

test("databases that are not there yet are no fault, nor made", async (t) => {
  const dataDir = temporaryFolder(t);
  for (const store of [controlStore, usageStore]) await finding("ok", store, dataDir);
  assert.deepEqual(readdirSync(dataDir), []);
});

test("a database of keys that is gone where others are left is a fault", async (t) => {
  const { dataDir, control } = await folderWithStores(t);
  rmSync(control);
  const { found, mend } = await finding("fail", controlStore, dataDir);
  assert.equal(found, `${control} is missing: no key works`);
  assert.match(mend, /gp-records restore FILE/);
});

test("a text file in place of a database is named, with what puts it right", async (t) => {
  const { dataDir, control, usage } = await folderWithStores(t);
  for (const file of [control, usage]) writeFileSync(file, "not a database\n".repeat(500));
  const ofControl = await finding("fail", controlStore, dataDir);
  assert.equal(ofControl.found, `${control} is not an SQLite database`);
  assert.match(ofControl.mend, /gp-records restore FILE --replace --undo-revocations/);
  const ofUsage = await finding("fail", usageStore, dataDir);
  assert.equal(ofUsage.found, `${usage} is not an SQLite database`);
  assert.match(ofUsage.mend, /rm -f .*usage\.sqlite .*usage\.sqlite-wal .*usage\.sqlite-shm/);
});

test("rubbish within a database is named", async (t) => {
  const { dataDir, control } = await folderWithStores(t);
  scribble(control, 4096, 2 * 4096);
  const { found, mend } = await finding("fail", controlStore, dataDir);
  assert.ok(found.startsWith(control), found);
  assert.match(found, /damaged|malformed/);
  assert.match(mend, /gp-records restore FILE/);
});

test("a database cut short is named", async (t) => {
  const { dataDir, control } = await folderWithStores(t);
  truncateSync(control, 3 * 4096);
  assert.match((await finding("fail", controlStore, dataDir)).found, /damaged|malformed/);
});

test("the schema of a newer program is named and left as it is", async (t) => {
  const { dataDir, control } = await folderWithStores(t);
  const db = new DatabaseSync(control);
  db.exec("insert into kysely_migration values ('9999-from-the-future', '2040-01-01T00:00:00Z')");
  db.close();
  const { found, mend } = await finding("fail", controlStore, dataDir);
  assert.match(found, /newer gp-records: .*'9999-from-the-future'/);
  assert.match(mend, /^Start the newer version/);
});

test("a write-ahead log over 64 MiB is named", async (t) => {
  const { dataDir, control } = await folderWithStores(t);
  writeFileSync(`${control}-wal`, "");
  truncateSync(`${control}-wal`, 65 * 1024 ** 2);
  const [content, log] = await look(controlStore, dataDir);
  assert.equal(content!.status, "ok");
  assert.equal(log!.status, "warn");
  assert.match(log!.found, /control\.sqlite-wal has grown to 65 MiB/);
  assert.match(log!.mend!, /^Restart the server\. .* fuser /);
});

const isLinux = existsSync("/proc/locks");

test("a process that keeps the write lock is named with its number", async (t) => {
  const { dataDir, control } = await folderWithStores(t);
  assert.match(
    (await finding("ok", writers, dataDir)).found,
    isLinux ? /nobody keeps/ : /cannot be told/,
  );
  const pid = await holdDatabase(t, control, "begin immediate");
  await finding("ok", controlStore, dataDir);
  if (!isLinux) return;
  const { found, mend } = await finding("fail", writers, dataDir);
  assert.match(found, new RegExp(`^process ${pid} \\(\\S+\\) has kept ${control} locked`));
  assert.equal(mend, `Let it finish, or end it: kill ${pid}`);
});

test("a process that keeps others from even reading is named", async (t) => {
  const { dataDir, usage } = await folderWithStores(t);
  const pid = await holdDatabase(
    t,
    usage,
    "pragma locking_mode = exclusive; begin exclusive; create table t (a)",
  );
  const { found, mend } = await finding("fail", usageStore, dataDir);
  assert.match(
    found,
    isLinux ? new RegExp(`is locked by process ${pid} `) : /is locked by another/,
  );
  assert.match(mend, isLinux ? new RegExp(`kill ${pid}$`) : /^End/);
});
