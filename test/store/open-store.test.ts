import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { Kysely, sql } from "kysely";
import {
  controlFile,
  type FileShape,
  fileSteps,
  refuseOldSqlite,
  usageFile,
  useWriteAheadLog,
} from "#store/sqlite-file.ts";
import { takeLock } from "#store/lock.ts";
import { nodeSqliteDialect, openControl, openStore, openUsage } from "#store/stores.ts";
import { replaceFile } from "#store/whole-file.ts";
import { outcomeOfScript } from "../support/command-line.ts";
import { changeDatabase } from "../support/damage.ts";
import { canSetLimits, outcomeOfScriptWithin, whyNoLimits } from "../support/machine.ts";
import { faultOf } from "../support/people.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

function schemaOf(file: string): unknown[] {
  const database = new DatabaseSync(file, { readOnly: true });
  const rows = database.prepare("select type, name, sql from sqlite_schema order by name").all();
  database.close();
  return rows;
}

const controlSteps = fileSteps["control.sqlite"];

const shapeIn = (t: TestContext, steps: FileShape["steps"]): FileShape => ({
  file: join(temporaryFolder(t), "some.sqlite"),
  steps,
  pragmas: "",
  busyMilliseconds: 50,
});

test("only the operator can read the data folder and the stores with their side files", async (t) => {
  const dataDir = join(temporaryFolder(t), "new", "data");
  const stores = [await openControl(dataDir), await openUsage(dataDir)];
  assert.equal(modeOf(dataDir), "700");
  const files = readdirSync(dataDir);
  assert.equal(files.length, 6, files.join());
  for (const file of files) assert.equal(modeOf(join(dataDir, file)), "600", file);
  for (const store of stores) await store.close();
});

test("control survives a power failure with every commit, usage trades the last ones for speed", async (t) => {
  const dataDir = temporaryFolder(t);
  for (const [open, synchronous] of [
    [openControl, 2],
    [openUsage, 1],
  ] as const) {
    const store = await open(dataDir);
    const pragma = async (name: string) =>
      Object.values((await sql.raw(`pragma ${name}`).execute(store.database)).rows[0] as object)[0];
    assert.equal(await pragma("journal_mode"), "wal");
    assert.equal(await pragma("synchronous"), synchronous);
    assert.equal(await pragma("foreign_keys"), 1);
    await store.close();
  }
});

test("opening a store again changes nothing in its schema", async (t) => {
  const dataDir = temporaryFolder(t);
  await (await openControl(dataDir)).close();
  const first = readFileSync(controlFile(dataDir));
  await (await openControl(dataDir)).close();
  assert.ok(first.equals(readFileSync(controlFile(dataDir))));
});

test("a store written by a newer program, or one before the first release, is refused as such and left byte for byte as it was", async (t) => {
  const newer = /control\.sqlite.*9999-of-tomorrow.*newer version/;
  const unreleased =
    /control\.sqlite was made by a version of gp-records that was never released, .* Nothing was changed\. To keep .* name another place with DATA_DIR .* import every source again/;
  for (const [sql, words] of [
    ["insert into schema_step values ('9999-of-tomorrow')", newer],
    ["update schema_step set name = '0001-accounts-and-keys' where name like '0001-%'", unreleased],
    ["drop table schema_step", unreleased],
  ] as const) {
    const dataDir = temporaryFolder(t);
    await (await openControl(dataDir)).close();
    changeDatabase(controlFile(dataDir), sql);
    const before = readFileSync(controlFile(dataDir));
    await assert.rejects(openControl(dataDir), faultOf("conflict", words));
    assert.ok(before.equals(readFileSync(controlFile(dataDir))));
    assert.deepEqual(readdirSync(dataDir), ["control.sqlite"]);
  }
});

test("an older store gains the missing steps and keeps its rows", async (t) => {
  const first = { name: "0001", sql: "create table one (a text)" };
  const second = { name: "0002", sql: "create table two (b text)" };
  const shape = shapeIn(t, [first]);
  const old = openStore<{ one: { a: string } }>(shape);
  await old.database.insertInto("one").values({ a: "kept" }).execute();
  await old.close();
  const store = openStore<{ one: { a: string }; two: { b: string } }>({
    ...shape,
    steps: [first, second],
  });
  assert.deepEqual(
    { ...(await store.database.selectFrom("one").selectAll().executeTakeFirst()) },
    { a: "kept" },
  );
  assert.deepEqual(await store.database.selectFrom("two").selectAll().execute(), []);
  await store.close();
});

test("a migration that fails leaves nothing of itself nor of the steps before it", async (t) => {
  const broken = { name: "0002-broken", sql: "create table more (a text); no such luck" };
  const shape = shapeIn(t, [...controlSteps, broken]);
  assert.throws(() => openStore(shape), /near "no"/);
  assert.deepEqual(schemaOf(shape.file), []);
  await openStore({ ...shape, steps: controlSteps }).close();
});

test("a migration killed half-way leaves a store that opens well", async (t) => {
  const shape = shapeIn(t, [{ name: "0001", sql: "create table half (a text)" }]);
  const script = `
    const { openStore } = await import(${JSON.stringify(import.meta.resolve("#store/stores.ts"))});
    const shape = ${JSON.stringify(shape)};
    const killing = { name: "0002", get sql() { process.kill(process.pid, "SIGKILL") } };
    openStore({ ...shape, steps: [...shape.steps, killing] });`;
  const { exitCode } = await outcomeOfScript(script);
  assert.equal(exitCode, null);
  await openStore({ ...shape, steps: controlSteps }).close();
  assert.ok(schemaOf(shape.file).every((row) => (row as { name: string }).name !== "half"));
});

test("while another process writes, readers go on, and a second writer waits as long as it was told to, then says so", async (t) => {
  const dataDir = temporaryFolder(t);
  const one = await openControl(dataDir);
  const other = await openControl(dataDir, { busyMilliseconds: 50 });
  t.after(() => Promise.all([one.close(), other.close()]));
  await one.write(async () => {
    assert.deepEqual(await other.database.selectFrom("account").selectAll().execute(), []);
    const began = performance.now();
    await assert.rejects(
      other.write(async () => {}),
      faultOf("busy", /Another process is writing to .*control\.sqlite/),
    );
    const waited = performance.now() - began;
    assert.ok(waited >= 40, `${waited} ms`);
  });
  await other.write(async () => {});
});

test("a full disk ends a transaction in words, though SQLite has rolled it back by itself", async (t) => {
  const store = await openUsage(temporaryFolder(t));
  t.after(() => store.close());
  await sql.raw("pragma max_page_count = 1").execute(store.database);
  const row = { key_id: "key_a".repeat(100_000), last_used_at: "2026-11-21T12:00:00.000Z" };
  await assert.rejects(
    store.write((transaction) => transaction.insertInto("key_use").values(row).execute()),
    faultOf("full", /The disk that holds .*usage\.sqlite is full/),
  );
  await sql.raw("pragma max_page_count = 1000000").execute(store.database);
  await store.write((transaction) => transaction.insertInto("key_use").values(row).execute());
});

test("a file that is no store is refused by name and left alone", async (t) => {
  const dataDir = temporaryFolder(t);
  writeFileSync(usageFile(dataDir), "This is a text and no database. ".repeat(100));
  const before = readFileSync(usageFile(dataDir));
  await assert.rejects(
    openUsage(dataDir),
    faultOf("unusable", /usage\.sqlite is damaged or not an SQLite/),
  );
  assert.ok(before.equals(readFileSync(usageFile(dataDir))));
});

test("a new store waits for the process that is making it, for as long as it was told to", (t) => {
  const file = join(temporaryFolder(t), "some.sqlite");
  const maker = new DatabaseSync(file);
  maker.exec("create table thing (id integer); begin immediate");
  const other = new DatabaseSync(file, { timeout: 10 });
  const began = performance.now();
  assert.throws(() => useWriteAheadLog(other, 100), /locked/);
  assert.ok(performance.now() - began >= 100);
  maker.exec("commit");
  useWriteAheadLog(other, 100);
  assert.deepEqual({ ...other.prepare("pragma journal_mode").get() }, { journal_mode: "wal" });
  maker.close();
  other.close();
});

interface Tables {
  thing: { id: number; value: unknown };
}

async function memory(t: TestContext) {
  const connection = new DatabaseSync(":memory:");
  connection.exec("create table thing (id integer primary key, value)");
  const database = new Kysely<Tables>({ dialect: nodeSqliteDialect(connection, "some.sqlite") });
  t.after(() => database.destroy());
  return { connection, database };
}

test("whole numbers, truth values, text, bytes and null are stored as what they are", async (t) => {
  const { database } = await memory(t);
  const values = [7, true, 1.5, "seven", Uint8Array.of(1, 2), null, 2n ** 60n];
  const types: string[] = [];
  for (const value of values) {
    const { rows } = await sql<{ type: string }>`select typeof(${value}) as type`.execute(database);
    types.push(rows[0]!.type);
  }
  assert.deepEqual(types, ["integer", "integer", "real", "text", "blob", "null", "integer"]);
});

test("a value that SQLite would take for something else is refused", async (t) => {
  const { database } = await memory(t);
  for (const value of [new Date(0), { a: 1 }])
    await assert.rejects(
      database.insertInto("thing").values({ id: 1, value }).execute(),
      /cannot be stored/,
    );
});

test("an SQLite that can lose commits is refused, and the versions without the fault are not", () => {
  for (const version of ["3.51.2", "3.50.99", "3.9.0", "2.99.99", "none"])
    assert.throws(() => refuseOldSqlite(version), /needs 3\.51\.3 or newer/, version);
  for (const version of ["3.51.3", "3.51.10", "3.52.0", "4.0.0"]) refuseOldSqlite(version);
  // And the one in use.
  refuseOldSqlite();
});

test("a lock is held by one at a time, and free again with its release", (t) => {
  const path = join(temporaryFolder(t), "one.lock");
  const first = takeLock(path, "It is held.");
  assert.throws(() => takeLock(path, "It is held."), { kind: "busy", message: "It is held." });
  first.release();
  takeLock(path, "It is held.").release();
});

test("a lock that cannot be made says so and where", (t) => {
  const path = join(temporaryFolder(t), "absent", "one.lock");
  assert.throws(() => takeLock(path, ""), { kind: "unusable", message: new RegExp(path) });
});

test(
  "a lock is taken on a full disk, where what makes room takes it",
  { skip: canSetLimits ? false : whyNoLimits },
  async (t) => {
    const path = join(temporaryFolder(t), "one.lock");
    const { out, err } = await outcomeOfScriptWithin(
      0,
      `const { takeLock } = await import("#store/lock.ts");
       takeLock(${JSON.stringify(path)}, "It is held.");
       console.log("taken");`,
    );
    assert.equal(`${out}${err}`, "taken\n");
  },
);

test("a file is replaced by its new text, and nothing is left beside it", (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, "facts.json");
  for (const text of ["old", "new and longer"]) replaceFile(path, text);
  assert.equal(readFileSync(path, "utf8"), "new and longer");
  assert.deepEqual(readdirSync(folder), ["facts.json"]);
});

test(
  "a text for which there is only half the space leaves the old one whole, and nothing beside it",
  { skip: canSetLimits ? false : whyNoLimits },
  async (t) => {
    const folder = temporaryFolder(t);
    const path = join(folder, "facts.json");
    writeFileSync(path, "old");
    const { out } = await outcomeOfScriptWithin(
      512,
      `const { replaceFile } = await import("#store/whole-file.ts");
       try {
         replaceFile(${JSON.stringify(path)}, "x".repeat(1000));
       } catch ({ code }) {
         console.log(code);
       }`,
    );
    assert.equal(out, "EFBIG\n");
    assert.equal(readFileSync(path, "utf8"), "old");
    assert.deepEqual(readdirSync(folder), ["facts.json"]);
  },
);
