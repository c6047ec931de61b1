import assert from "node:assert/strict";
import {
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { controlStore, judgeStore, usageStore } from "#doctor/stores.ts";
import { openControl, openUsage } from "#store/stores.ts";
import { allCommands } from "../support/all-commands.ts";
import { mainPath, outcomeOf } from "../support/command-line.ts";
import { changeDatabase, scribble } from "../support/damage.ts";
import { finding } from "../support/doctor.ts";
import { holdDatabase } from "../support/holder-process.ts";
import { canSetLimits, whyNoLimits } from "../support/machine.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

async function folderWithStores(t: TestContext) {
  const dataDir = temporaryFolder(t);
  await (await openControl(dataDir)).close();
  await (await openUsage(dataDir)).close();
  const [control, usage] = [join(dataDir, "control.sqlite"), join(dataDir, "usage.sqlite")];
  return { dataDir, control, usage };
}

test("databases that are not there yet, or whole, are well, and looking at them leaves nothing beside them", async (t) => {
  const empty = temporaryFolder(t);
  const { dataDir } = await folderWithStores(t);
  for (const store of [controlStore, usageStore]) {
    await finding("ok", store, empty);
    assert.match((await finding("ok", store, dataDir)).found, /is intact \(quick_check\)/);
  }
  assert.deepEqual(readdirSync(empty), []);
  assert.deepEqual(readdirSync(dataDir), ["control.sqlite", "usage.sqlite"]);
});

test("a database of keys that is empty, or gone where others are left, is a fault", async (t) => {
  const { dataDir, control, usage } = await folderWithStores(t);
  truncateSync(control);
  await finding("fail", controlStore, dataDir);
  rmSync(control);
  await finding("fail", controlStore, dataDir);
  rmSync(usage);
  await finding("ok", controlStore, dataDir);
  mkdirSync(join(dataDir, "counts"));
  const { found, mend } = await finding("fail", controlStore, dataDir);
  assert.equal(found, `${control} is missing or empty, so no key works`);
  assert.match(mend, /gp-records restore FILE/);
});

test("rubbish within a database, and one cut short, is named", async (t) => {
  for (const damage of [
    (file: string) => scribble(file, 4096, 2 * 4096),
    (file: string) => truncateSync(file, 3 * 4096),
  ]) {
    const { dataDir, control } = await folderWithStores(t);
    damage(control);
    const { found, mend } = await finding("fail", controlStore, dataDir);
    assert.ok(found.startsWith(control), found);
    assert.match(found, /damaged|malformed/);
    assert.match(mend, /gp-records restore FILE/);
  }
});

test("a text file in place of a database is named, with what puts it right and all that is lost by that", async (t) => {
  const { dataDir, control, usage } = await folderWithStores(t);
  for (const file of [control, usage]) writeFileSync(file, "not a database\n".repeat(500));
  const ofControl = await finding("fail", controlStore, dataDir);
  assert.equal(ofControl.found, `${control} is damaged: SQLite says file is not a database`);
  assert.match(ofControl.mend, /gp-records restore FILE --replace --undo-revocations/);
  const ofUsage = await finding("fail", usageStore, dataDir);
  assert.equal(ofUsage.found, `${usage} is damaged: SQLite says file is not a database`);
  for (const words of [
    /rm -f .*usage\.sqlite .*usage\.sqlite-wal .*usage\.sqlite-shm/,
    /totals of 400 days, .*bills/,
    /the request log/,
    /when keys were last used/,
  ])
    assert.match(ofUsage.mend, words);
  assert.ok(ofUsage.mend.endsWith(`tar -xf FILE -C ${dataDir} usage.sqlite`), ofUsage.mend);
});

/** Nothing that is said of a database that may be whole may cost its content. */
function assertHarmless({ found, mend }: { found: string; mend: string }): void {
  assert.match(found, / could not be checked: .*it may be intact/);
  assert.doesNotMatch(mend, /restore|\brm\b/);
  assert.match(mend, /^Run doctor as the owner of DATA_DIR, with free space/);
}

test("where the disk has no room to read them by, whole databases are not said to be damaged", async (t) => {
  if (!canSetLimits) return t.skip(whyNoLimits);
  const { dataDir, control, usage } = await folderWithStores(t);
  // What reads a database with a write-ahead log makes the file it is shared by, which takes room.
  for (const file of [control, usage]) writeFileSync(`${file}-wal`, "");
  const command = ["--fsize=0", process.execPath, mainPath, "doctor", "--json"];
  const environment = { PATH: process.env["PATH"], DATA_DIR: dataDir, PORT: "0" };
  const { out } = await outcomeOf("prlimit", command, environment);
  const ofStores = JSON.parse(out).checks.filter(({ check }: any) => check.endsWith(".sqlite"));
  assert.equal(ofStores.length, 2);
  for (const one of ofStores) {
    assert.equal(one.status, "fail");
    assert.match(one.found, /disk I\/O error/);
    assertHarmless(one);
  }
});

test("only what SQLite calls damaged, or no database, is to be replaced", () => {
  const corruptIndex = 11 | (3 << 8);
  for (const code of [11, corruptIndex, 26])
    assert.equal(judgeStore("/data/a", code, "words", "replace it").mend, "replace it");
  const ioErrorRead = 10 | (1 << 8);
  for (const code of [5, 8, 10, ioErrorRead, 13, 14, 7, 0]) {
    const { found, mend } = judgeStore("/data/a", code, "words", "restore or rm");
    assertHarmless({ found, mend: mend! });
  }
});

test("a page that the disk does not give is told from one that is wrong", async (t) => {
  const { dataDir } = await folderWithStores(t);
  let said = "Tree 3 page 4: unable to get the page. error code=266";
  const prepare = () => ({ get: () => ({ quick_check: said }) });
  t.mock.method(DatabaseSync.prototype, "prepare", prepare as never);
  for (const store of [controlStore, usageStore])
    assertHarmless(await finding("fail", store, dataDir));
  said = "Tree 3 page 4: btreeInitPage() returns error code 11";
  const { found, mend } = await finding("fail", controlStore, dataDir);
  assert.match(found, / is damaged: SQLite says Tree 3 page 4/);
  assert.match(mend, /gp-records restore FILE/);
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
  changeDatabase(control, "insert into schema_step values ('9999-from-the-future')");
  const { found, mend } = await finding("fail", controlStore, dataDir);
  assert.match(found, /newer version of gp-records: .*'9999-from-the-future'/);
  assert.match(mend, /^Start the newer version/);
});

test("databases that cannot be opened now are not said to be damaged, and one that another process locks is named", async (t) => {
  const { dataDir, control, usage } = await folderWithStores(t);
  for (const file of [control, usage]) mkdirSync(`${file}-wal`);
  for (const store of [controlStore, usageStore])
    assertHarmless(await finding("fail", store, dataDir));
  rmdirSync(`${usage}-wal`);
  const sql = "pragma locking_mode = exclusive; begin exclusive; create table t (a)";
  await holdDatabase(t, usage, sql);
  const locked = await finding("fail", usageStore, dataDir);
  assert.match(locked.found, /database is locked/);
  assert.match(locked.mend, /fuser/);
  assertHarmless(locked);
});

test("messages that send their reader to doctor name the same file as doctor does, which says what to do", async (t) => {
  const senders = globSync("src/**/*.ts", { exclude: ["src/doctor/**", "src/cli/**"] })
    .filter((path) => readFileSync(path, "utf8").includes("gp-records doctor"))
    .map((path) => relative("src", path));
  assert.deepEqual(senders.toSorted(), [
    "backups/make-backup.ts",
    "datasets/dataset-fault.ts",
    "store/store-fault.ts",
  ]);
  const { dataDir, control: file } = await folderWithStores(t);
  const { err } = await allCommands(dataDir).start("backup", join(dataDir, "made.tar"));
  assert.equal(err, "");
  scribble(file, 4096, 8192);
  const { err: said } = await allCommands(dataDir).start("backup", join(dataDir, "again.tar"));
  assert.match(said, /gp-records doctor/);
  assert.ok(said.includes(file), said);
  const { found, mend } = await finding("fail", controlStore, dataDir);
  assert.ok(found.includes(file), found);
  assert.notEqual(mend, "");
});
