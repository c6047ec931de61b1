import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { TestContext } from "node:test";
import { requestTables, storedTables } from "#backups/stored-tables.ts";
import { exitCodes } from "#cli/command-fault.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import { openPublications } from "#datasets/publications.ts";
import { allCommands } from "../support/all-commands.ts";
import { cast } from "../support/cast.ts";
import { noon } from "../support/control.ts";
import { importRecords } from "../support/dataset.ts";
import { eventually } from "../support/eventually.ts";
import { newKey, roomy } from "../support/own-process.ts";
import {
  databaseWithRoles,
  freshDatabase,
  onPostgres as test,
  runSql,
} from "../support/postgres.ts";
import { startServer } from "../support/server-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { putRequests, request, tidyUsage, usageOf } from "../support/usage.ts";
import { fillInstallation, insertRows, pictureOf, tablesIn, tablesLeft } from "./installation.ts";

const inFolder = (dataDir: string) => usageOf({ dataDir, databaseUrl: null });

async function filled(t: TestContext): Promise<string> {
  const dataDir = join(temporaryFolder(t), "here");
  await fillInstallation(dataDir);
  return dataDir;
}

/** Commands on a database, on a machine of their own. */
const commandsOn = (t: TestContext, url: string) =>
  allCommands(temporaryFolder(t), { DATABASE_URL: url });

const archive = (t: TestContext) => join(temporaryFolder(t), "all.tar");

test("no table of either engine is forgotten", async (t) => {
  const dataDir = await filled(t);
  const known = new Set<string>([
    ...Object.values(storedTables).flat(),
    ...requestTables,
    ...Object.keys(tablesLeft),
  ]);
  const inFile = Object.keys(storedTables).flatMap((file) =>
    Object.keys(tablesIn(join(dataDir, file), [])),
  );
  const tables = await runSql<{ name: string }>(
    await freshDatabase(t),
    "select tablename as name from pg_tables where schemaname = 'public'",
  );
  for (const name of [...inFile, ...tables.map((one) => one.name)])
    assert.ok(known.has(name), `${name} is held by backups, or left with a reason`);
  // What is moved below has something in every column of every table.
  for (const [file, stored] of Object.entries(storedTables)) {
    const db = new DatabaseSync(join(dataDir, file));
    for (const name of stored) {
      const columns = db.prepare("select name from pragma_table_info(?)").all(name);
      for (const column of columns.map((one) => String(one["name"]))) {
        const found = db.prepare(`select 1 from ${name} where ${column} is not null`).get();
        assert.ok(found !== undefined, `${name}.${column}`);
      }
    }
    db.close();
  }
});

/** What SQLite says of a value: its type and its text. The client of PostgreSQL gives large whole numbers as text. */
function quoted(value: string | number | Uint8Array | null): string[] {
  if (value === null) return ["null", "NULL"];
  if (value instanceof Uint8Array) return ["blob", `X'${value.toHex().toUpperCase()}'`];
  const text = String(value);
  return /^-?\d+$/.test(text) ? ["integer", text] : ["text", `'${text.replaceAll("'", "''")}'`];
}

/** Rows of a database's table as `pictureOf` has those of a file. */
async function rowsIn(url: string, table: string): Promise<string[]> {
  const rows = await runSql<any>(url, `select * from ${table}`);
  const texts = rows.map((row) => {
    const names = Object.keys(row).toSorted();
    return JSON.stringify(names.flatMap((name) => quoted(row[name])));
  });
  return texts.filter((row) => !row.includes("'backup.restored'")).toSorted();
}

test("an installation that is moved into a database and back is the same in every row and every byte", async (t) => {
  const here = await filled(t);
  const before = await pictureOf(here);
  const url = await freshDatabase(t);
  const [first, second] = [archive(t), archive(t)];
  await allCommands(here).text("backup", first, "--requests");
  const there = await allCommands(here).text("restore", first, "--to", url);
  assert.match(there, /^The database now has the dataset \S+, 3 accounts, /m);
  assert.match(there, /^After the restore, the quotas of all accounts are unused again\.$/m);
  assert.deepEqual(await usageOf({ dataDir: here, databaseUrl: url }), before.usage);
  // The numbers of a suppression are texts of digits, which the client does not tell from large numbers.
  const { suppression: _, ...tables } = before.tables;
  for (const [table, rows] of Object.entries(tables))
    assert.deepEqual(await rowsIn(url, table), rows, table);
  const [{ batch }] = await runSql<any>(url, "select batch from usage_writer");
  assert.equal(Number(batch), 17);

  const onDatabase = commandsOn(t, url);
  assert.equal((await onDatabase.json("datasets list")).length, 3);
  await onDatabase.text("accounts create --name", "one more");
  await runSql(url, "delete from audit where action = 'account.created'");
  await runSql(url, "delete from account where name = 'one more'");
  const made = await onDatabase.json("backup", second, "--requests");
  assert.deepEqual([made.requests, made.pinned.length], [true, 2]);
  const back = join(temporaryFolder(t), "back", "again");
  await onDatabase.text("restore", second, "--to", back);
  assert.deepEqual(await pictureOf(back), before);
  // What it is made of is sound as well, and goes on from there.
  await tidyUsage(back, noon);
  await putRequests(back, [request({ requestId: "one more" })]);
  const { requests } = (await inFolder(back)) as { requests: object[] };
  const { requests: all } = before.usage as { requests: object[] };
  assert.equal(requests.length, all.length + 1);
  assert.doesNotMatch((await allCommands(back).start("doctor")).out, /damaged/);
});

test("the log of requests is in a backup where that is asked for, and else no byte of it", async (t) => {
  const here = await filled(t);
  const query = "gp_name=only-in-the-log";
  await putRequests(here, [request({ account: 1, query })]);
  const whole = archive(t);
  await allCommands(here).text("backup", whole, "--requests");
  const url = await freshDatabase(t);
  await allCommands(here).text("restore", whole, "--to", url);
  const { lastUse, totals } = (await inFolder(here)) as { lastUse: unknown; totals: unknown };
  for (const place of [allCommands(here), commandsOn(t, url)]) {
    const file = archive(t);
    assert.match(
      await place.text("backup", file),
      /The backup has no request log\. Add --requests/,
    );
    assert.ok(!readFileSync(file).includes("only-in-the-log"));
    const target = join(temporaryFolder(t), "target");
    assert.match(
      await place.text("restore", file, "--to", target),
      /The backup has no request log, because it was made without --requests\./,
    );
    assert.deepEqual(await inFolder(target), { requests: [], lastUse, totals });
  }
});

test("a key that was revoked after the backup was made stays revoked, wherever that is restored", async (t) => {
  const here = await filled(t);
  const [first, second, control] = [archive(t), archive(t), archive(t)];
  const stateIn = async ({ json }: ReturnType<typeof allCommands>, id: string) =>
    (await json("keys list")).find((one: { id: string }) => one.id === id).state;
  const settled = allCommands(here);
  const { id } = await settled.json("keys create --account acc_2000000000 --name a");
  await settled.text("backup", first);
  await settled.text("keys revoke", id);
  const url = await freshDatabase(t);
  assert.match(
    await settled.text("restore", first, "--to", url, "--dry-run"),
    new RegExp(`Withdrawn since the backup; the restore does not bring these back:\n  key ${id} `),
  );
  await settled.text("restore", first, "--to", url);
  const onDatabase = commandsOn(t, url);
  assert.equal(await stateIn(onDatabase, id), "revoked");

  const later = await onDatabase.json("keys create --account acc_2000000000 --name b");
  await onDatabase.text("backup", second);
  await onDatabase.text("backup", control, "--control");
  await onDatabase.text("keys revoke", later.id);
  for (const file of [second, control]) {
    const folder = join(temporaryFolder(t), "folder");
    const other = await freshDatabase(t);
    for (const place of [folder, other]) await onDatabase.text("restore", file, "--to", place);
    for (const place of [allCommands(folder), commandsOn(t, other)])
      assert.equal(await stateIn(place, later.id), "revoked");
  }
  // Nobody can tell what ended in a database that is away.
  const away = allCommands(here, { DATABASE_URL: url.replace(/\/own_/, "/gone_") });
  const empty = await freshDatabase(t);
  assert.match(
    await away.refusal(exitCodes.conflict, "restore", second, "--to", empty),
    /The database in DATABASE_URL cannot be read\. .* To restore nevertheless, add --undo-revocations/,
  );
  assert.match(
    await away.text("restore", second, "--to", empty, "--undo-revocations"),
    /Whatever was revoked, suspended, closed or removed after .* works again/,
  );
});

test("servers on a database know at once whose keys were restored into it", async (t) => {
  const here = await filled(t);
  const file = archive(t);
  await allCommands(here).text("backup", file);
  const url = await freshDatabase(t);
  const counts = () => runSql(url, "select account, count from key_change order by account");
  const before = await counts();
  await allCommands(here).text("restore", file, "--to", url);
  const after = await counts();
  assert.deepEqual(
    after.map(({ account, count }) => [account, Number(count)]),
    before.map(({ account, count }) => [account, Number(count) + 1]),
  );
  // And of each change since.
  await runSql(url, "update api_key set name = 'x' where id = 'key_c'");
  assert.equal((await counts()).length, before.length + 1);
});

test("a place that has an installation is refused, and stays as it is", async (t) => {
  const here = await filled(t);
  const file = archive(t);
  const { refusal, text } = allCommands(here);
  await text("backup", file);
  const restore = (to: string) => refusal(exitCodes.conflict, "restore", file, "--to", to);
  const misuse = (...to: string[]) => refusal(exitCodes.usage, "restore", file, "--to", ...to);
  const taken = await freshDatabase(t);
  await runSql(taken, "insert into throttle values ('x', 1, 'y')");
  assert.match(
    await restore(taken),
    /the table throttle in \S.* has rows\. Name an empty database/,
  );
  const served = await freshDatabase(t);
  await runSql(
    served,
    "insert into instance values ('i', 'web-1', 7, now(), now(), '1', array['2.1'], null)",
  );
  assert.match(await restore(served), /a server is using .*process 7 on web-1\. Stop this server/);
  await runSql(served, "update instance set seen_at = now() - interval '1 minute'");
  await text("restore", file, "--to", served);
  assert.match(await restore(here), /already has data \(control\.sqlite, /);
  assert.match(await misuse(here, "--replace"), /--to takes only an empty folder or database/);
  assert.match(
    await misuse("postgres://a:secret@b"),
    /^error: --to must be a URL such as postgres:[^\n]+\n$/,
  );
  assert.match(
    await misuse(taken.replace(/[^/]+$/, "nowhere")),
    /Correct the user, password or database in --to, or admit this login in the server's pg_hba\.conf\.\n$/,
  );
  await runSql(
    served,
    "create database other_encoding encoding 'SQL_ASCII' locale 'C' template template0",
  );
  assert.match(
    await misuse(taken.replace(/[^/]+$/, "other_encoding")),
    / has the encoding SQL_ASCII.*, and name it in --to\.\n$/,
  );
  await runSql(served, "drop database other_encoding");
  const onDatabase = commandsOn(t, served);
  assert.match(
    await onDatabase.refusal(exitCodes.usage, "restore", file),
    /Name the destination with --to: /,
  );
});

test("a database without tables gets them with what is restored, and one with newer tables stays as it is", async (t) => {
  const here = await filled(t);
  const file = archive(t);
  const { refusal, text } = allCommands(here);
  await text("backup", file, "--control");
  const fresh = await freshDatabase(t, { isMigrated: false });
  assert.match(await text("restore", file, "--to", fresh), /accounts, keys, people and the audit/);
  const onDatabase = commandsOn(t, fresh);
  assert.equal((await onDatabase.json("keys list")).length, 3);
  const newer = await freshDatabase(t);
  await runSql(newer, "insert into schema_step (name, is_additive) values ('9999-later', false)");
  assert.match(
    await refusal(exitCodes.conflict, "restore", file, "--to", newer),
    /'9999-later', which this version does not know/,
  );
});

test("a text with a NUL is refused, and the database stays empty", async (t) => {
  const here = await filled(t);
  insertRows(join(here, "control.sqlite"), {
    throttle: [{ subject: "a\0b", failures: 1, next_at: "n" }],
  });
  const file = archive(t);
  await allCommands(here).text("backup", file);
  const url = await freshDatabase(t);
  assert.match(
    await allCommands(here).refusal(exitCodes.conflict, "restore", file, "--to", url),
    /A value in throttle\.subject of the backup contains a NUL/,
  );
  assert.deepEqual(await runSql(url, "select 1 from account"), []);
});

test("a dataset that is stored damaged is named and not backed up, and a damaged step is left out", async (t) => {
  const here = await filled(t);
  const stepsIn = (dataDir: string) => {
    const folder = join(dataDir, "datasets");
    const noted = openPublications(folder).list(openCatalogue(folder).currentVersion());
    return noted.map(({ step }) => step?.changes ?? null);
  };
  assert.equal(stepsIn(here).filter((changes) => changes !== null).length, 3);
  const url = await freshDatabase(t);
  const [first, second] = [archive(t), archive(t)];
  await allCommands(here).text("backup", first);
  await allCommands(here).text("restore", first, "--to", url);
  await runSql(url, "update dataset_part set bytes = substr(bytes, 2) where name like '%..%'");
  const onDatabase = commandsOn(t, url);
  await onDatabase.text("backup", second);
  const back = join(temporaryFolder(t), "back");
  await onDatabase.text("restore", second, "--to", back);
  assert.deepEqual(
    stepsIn(back),
    stepsIn(here).map(() => null),
  );
  assert.deepEqual(readdirSync(join(back, "datasets", "changes")), ["publications.json"]);
  await runSql(url, "update dataset_part set bytes = substr(bytes, 2)");
  const third = archive(t);
  assert.match(
    await onDatabase.refusal(exitCodes.conflict, "backup", third),
    /Part 1 of 1 of the file \S+ in the database is damaged/,
  );
  assert.ok(!existsSync(third));
});

test("a database without a dataset is backed up, and one that lacks steps of its schema is not", async (t) => {
  const file = archive(t);
  assert.match(
    await commandsOn(t, await freshDatabase(t)).text("backup", file),
    /No dataset is published, so the backup has none\./,
  );
  const old = await freshDatabase(t, { isMigrated: false });
  assert.match(
    await commandsOn(t, old).refusal(exitCodes.conflict, "backup", `${file}.2`),
    /lacks schema migrations/,
  );
});

test("with the two roles of docs/scaling.md the owner restores into a database, and the role of servers serves it and backs it up", async (t) => {
  const { owner, serving } = await databaseWithRoles(t);
  const here = join(temporaryFolder(t), "here");
  await importRecords(openCatalogue(join(here, "datasets")), cast);
  const key = await newKey(here, "Acme", roomy);
  const ask = async (dataDir: string, settings: Record<string, string> = {}) => {
    const one = await startServer(t, { dataDir, settings });
    await eventually(async () =>
      assert.equal((await one.get("/fetch-gp?gp_name=kkr", { "x-api-key": key })).status, 200),
    );
    one.signal("SIGTERM");
    assert.equal((await one.ended).exitCode, 0);
  };

  const file = join(temporaryFolder(t), "moved.tar");
  await allCommands(here).text("backup", file);
  const restore = ["restore", file, "--to"];
  assert.match(
    await allCommands(here).refusal(exitCodes.usage, ...restore, serving),
    /does not allow this: permission denied for table \w+\. docs\/scaling\.md says which rights each role needs\./,
  );
  assert.deepEqual(await runSql(owner, "select 1 from account"), []);
  await allCommands(here).text(...restore, owner);
  await ask(temporaryFolder(t), { DATABASE_URL: serving });

  const back = join(temporaryFolder(t), "back");
  const again = join(temporaryFolder(t), "again.tar");
  const onDatabase = commandsOn(t, serving);
  await onDatabase.text("backup", again);
  await onDatabase.text("restore", again, "--to", back);
  await ask(back);
});
