import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { createAccount } from "#accounts/accounts.ts";
import type { Finding } from "#doctor/check.ts";
import { controlStore, unreadableStore, unsoundStore, usageStore } from "#doctor/stores.ts";
import { writers } from "#doctor/writers.ts";
import { openControl, openUsage } from "#store/stores.ts";
import { mainPath, outcomeOf } from "../support/command-line.ts";
import { noon } from "../support/control.ts";
import { scribble } from "../support/damage.ts";
import { finding, look } from "../support/doctor.ts";
import { holdDatabase } from "../support/holder-process.ts";
import { canSetLimits, whyNot } from "../support/process-limits.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { putRequests, request } from "../support/usage.ts";

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

test("a database of usage that an earlier version made and that cannot shrink is told of", async (t) => {
  const dataDir = temporaryFolder(t);
  const file = join(dataDir, "usage.sqlite");
  const former = new DatabaseSync(file);
  former.exec("create table filler (text text)");
  former.close();
  await (await openUsage(dataDir)).close();
  await finding("ok", usageStore, dataDir);
  const database = new DatabaseSync(file);
  const insert = database.prepare("insert into filler values (zeroblob(1048576))");
  for (let i = 0; i < 66; i++) insert.run();
  database.exec("delete from filler; pragma wal_checkpoint(truncate)");
  database.close();
  const [whole, told] = await look(usageStore, dataDir);
  assert.equal(whole!.status, "ok");
  assert.match(told!.found, /cannot give back 66 MiB of free space in it$/);
  const [, sql] = /sqlite3 \S+ '(.*)'$/.exec(told!.mend!)!;
  const mended = new DatabaseSync(file);
  mended.exec(sql!);
  mended.close();
  assert.deepEqual(
    (await look(usageStore, dataDir)).map(({ status }) => status),
    ["ok"],
  );
});

test("a block of the request log that cannot be read is told of", async (t) => {
  const { dataDir, usage } = await folderWithStores(t);
  await putRequests(dataDir, [request()]);
  await finding("ok", usageStore, dataDir);
  const database = new DatabaseSync(usage);
  database.exec("update request_recent set content = x'09'");
  database.close();
  const { found } = await finding("fail", usageStore, dataDir);
  assert.match(found, /row 1 of request_recent cannot be read: its format is 9/);
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

test("a database of keys that was emptied is told from one that was never used", async (t) => {
  const { dataDir, control, usage } = await folderWithStores(t);
  truncateSync(control, 0);
  const one = await finding("fail", controlStore, dataDir);
  assert.match(
    one.found,
    /control\.sqlite is empty, though .*: no account is in it, so no key works$/,
  );
  assert.match(one.mend, /gp-records restore FILE .* accounts create and keys create/);
  rmSync(usage);
  await finding("ok", controlStore, dataDir);
  mkdirSync(join(dataDir, "counts"));
  await finding("ok", controlStore, dataDir);
  writeFileSync(join(dataDir, "counts", "00000001.counts"), "");
  await finding("fail", controlStore, dataDir);
});

test("a database of keys without an account is warned of only where keys were used", async (t) => {
  const { dataDir, usage } = await folderWithStores(t);
  await finding("ok", controlStore, dataDir);
  const db = new DatabaseSync(usage);
  db.exec("insert into usage_hour values (1, '2026-11-21T09', 'k', 'fetch-gp', 200, 1, 1, 1)");
  db.close();
  const { found, mend } = await finding("warn", controlStore, dataDir);
  assert.match(found, /control\.sqlite holds no account, so no key works, though usage\.sqlite/);
  assert.match(mend, /gp-records restore FILE .* accounts create/);
  const store = await openControl(dataDir);
  await createAccount(store, { name: "Analysts", quotas: {}, now: noon });
  await store.close();
  await finding("ok", controlStore, dataDir);
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

/** Nothing that is said of a database that may be whole may cost its content. */
function assertHarmless({ found, mend }: { found: string; mend: string }): void {
  assert.match(found, / could not be looked at: .*it may be whole/);
  assert.doesNotMatch(mend, /restore|\brm\b/);
  assert.match(mend, /; then run doctor again\.$/);
}

test("where the disk has no room to read them by, whole databases are not said to be damaged", async (t) => {
  if (!canSetLimits) return t.skip(whyNot);
  const { dataDir, control, usage } = await folderWithStores(t);
  // What reads a database with a write-ahead log makes the file it is shared by, which takes room.
  for (const file of [control, usage]) writeFileSync(`${file}-wal`, "");
  const { out } = await outcomeOf(
    "prlimit",
    ["--fsize=0", process.execPath, mainPath, "doctor", "--json"],
    { PATH: process.env["PATH"], DATA_DIR: dataDir, PORT: "0" },
  );
  const { checks } = JSON.parse(out) as { checks: (Finding & { check: string; mend: string })[] };
  const ofStores = checks.filter(({ check }) => check.endsWith(".sqlite"));
  assert.equal(ofStores.length, 2);
  for (const one of ofStores) {
    assert.equal(one.status, "fail");
    assert.match(one.found, /disk I\/O error/);
    assertHarmless(one);
    assert.match(one.mend, /^Free some space/);
  }
});

test("databases that cannot be opened now are not said to be damaged", async (t) => {
  const { dataDir, control, usage } = await folderWithStores(t);
  for (const file of [control, usage]) mkdirSync(`${file}-wal`);
  for (const store of [controlStore, usageStore]) {
    const one = await finding("fail", store, dataDir);
    assertHarmless(one);
    assert.match(one.mend, /^Run doctor as the user who owns DATA_DIR/);
  }
});

test("only what SQLite calls damaged, or no database, is to be replaced", () => {
  const errorOf = (errcode: number) => Object.assign(new Error("words"), { errcode });
  const corruptIndex = 11 | (3 << 8);
  for (const errcode of [11, corruptIndex, 26])
    assert.equal(unreadableStore(errorOf(errcode), "/data/a", "replace it").mend, "replace it");
  const ioErrorRead = 10 | (1 << 8);
  const fileSystemFaults = ["EACCES", "EPERM", "EROFS", "ENOSPC"].map((code) =>
    Object.assign(new Error(code), { code }),
  );
  for (const error of [...[8, 10, ioErrorRead, 13, 14, 7, 0].map(errorOf), ...fileSystemFaults]) {
    const { found, mend } = unreadableStore(error, "/data/a", "restore or rm");
    assertHarmless({ found, mend: mend! });
  }
});

test("a page that the disk does not give is told from one that is wrong", () => {
  const unread = unsoundStore(
    "Tree 3 page 4: unable to get the page. error code=266",
    "/data/a",
    "restore or rm",
  );
  assertHarmless({ found: unread.found, mend: unread.mend! });
  const wrong = unsoundStore(
    "Tree 3 page 4: btreeInitPage() returns error code 11",
    "/data/a",
    "r",
  );
  assert.deepEqual([wrong.status, wrong.mend], ["fail", "r"]);
});

test("what is lost with usage.sqlite is all told", async (t) => {
  const { dataDir, usage } = await folderWithStores(t);
  writeFileSync(usage, "not a database\n".repeat(500));
  const { mend } = await finding("fail", usageStore, dataDir);
  for (const words of [
    /totals of 400 days, .*bills/,
    /the request log/,
    /when keys were last used/,
  ])
    assert.match(mend, words);
  assert.ok(mend.endsWith(`tar -xf FILE -C ${dataDir} usage.sqlite`), mend);
});

test("a folder in place of a database is to be moved, not removed", async (t) => {
  const dataDir = temporaryFolder(t);
  mkdirSync(join(dataDir, "control.sqlite"));
  const { found, mend } = await finding("fail", controlStore, dataDir);
  assert.equal(found, `${join(dataDir, "control.sqlite")} is not a file`);
  assert.match(mend, /^Move it elsewhere/);
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
