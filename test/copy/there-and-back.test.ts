import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { exitCodes } from "#cli/command-fault.ts";
import { controlTables, tablesLeft, usageTables } from "#copy/tables.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import { openPublications } from "#datasets/publications.ts";
import { allCommands } from "../support/all-commands.ts";
import { freshDatabase, hasPostgres, runSql } from "../support/postgres.ts";
import { noon } from "../support/control.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { putRequests, request, tidyUsage } from "../support/usage.ts";
import { datasetsIn, fillInstallation, insertRows, tablesIn, usageOf } from "./installation.ts";

const left = Object.keys(tablesLeft);
const tablesOf = (dataDir: string) => tablesIn(join(dataDir, "control.sqlite"), left);
const inFolder = (dataDir: string) => usageOf({ dataDir, databaseUrl: null });
/** All that a move has to bring. */
const pictureOf = async (dataDir: string) => ({
  tables: tablesOf(dataDir),
  datasets: datasetsIn(dataDir),
  usage: await inFolder(dataDir),
});

async function filled(t: TestContext): Promise<string> {
  const dataDir = join(temporaryFolder(t), "here");
  await fillInstallation(dataDir);
  return dataDir;
}

test("no table of either engine is forgotten", async (t) => {
  if (!hasPostgres(t)) return;
  const dataDir = await filled(t);
  const copied = { "control.sqlite": controlTables, "usage.sqlite": usageTables };
  const known = new Set([...controlTables, ...usageTables].map(({ name }) => name as string));
  for (const name of left) known.add(name);
  const inFile = Object.keys(copied).flatMap((file) =>
    Object.keys(tablesIn(join(dataDir, file), [])),
  );
  const tables = await runSql<{ name: string }>(
    await freshDatabase(t),
    "select tablename as name from pg_tables where schemaname = 'public'",
  );
  for (const name of [...inFile, ...tables.map((one) => one.name)])
    assert.ok(known.has(name), `${name} is copied, or left with a reason: src/copy/tables.ts`);
  // What is copied below has something in every column of every table.
  for (const [file, copiedTables] of Object.entries(copied)) {
    const db = new DatabaseSync(join(dataDir, file));
    for (const { name } of copiedTables) {
      const columns = db.prepare("select name from pragma_table_info(?)").all(name);
      for (const column of columns.map((one) => String(one["name"]))) {
        const found = db.prepare(`select 1 from ${name} where ${column} is not null`).get();
        assert.ok(found !== undefined, `${name}.${column}`);
      }
    }
    db.close();
  }
});

test("an installation that is moved into a database and back is the same in every row and every byte", async (t) => {
  if (!hasPostgres(t)) return;
  const here = await filled(t);
  const before = await pictureOf(here);
  const url = await freshDatabase(t);
  const there = await allCommands(here, { COPY_TO: url }).json("copy");
  assert.equal(there.outcome, "moved");
  assert.equal(there.datasets, 3);
  assert.equal(there.tables.find(({ name }: { name: string }) => name === "audit").rows, 2500);
  assert.equal(there.logged_requests, 1500 + 40 + 2500 + 700 + 36);
  assert.deepEqual(await usageOf({ dataDir: here, databaseUrl: url }), before.usage);

  const cache = temporaryFolder(t);
  const back = join(temporaryFolder(t), "back", "again");
  const onDatabase = allCommands(cache, { DATABASE_URL: url, COPY_TO: back });
  assert.equal((await onDatabase.json("datasets", "list")).length, 3);
  const returned = await onDatabase.json("copy");
  assert.deepEqual(returned.tables, there.tables);
  assert.deepEqual(await pictureOf(back), before);
  // What it is made of is sound as well, and goes on from there.
  await tidyUsage(back, noon);
  await putRequests(back, [request({ requestId: "one more" })]);
  assert.doesNotMatch((await allCommands(back).start("doctor")).out, /damaged/);
  const { requests } = (await inFolder(back)) as { requests: { requestId: string }[] };
  assert.equal(requests.length, there.logged_requests + 1);
  assert.equal(existsSync(join(back, "move.json")), false);
  // And it can be changed again, as the source cannot.
  await allCommands(back).text("accounts", "create", "--name", "new");
  assert.match(
    await onDatabase.refusal(exitCodes.conflict, "accounts", "create", "--name", "new"),
    /was moved to \S+again at/,
  );
  await assert.rejects(runSql(url, "delete from throttle"), /moved away/);
});

test("an installation can be moved from folder to folder and from database to database", async (t) => {
  if (!hasPostgres(t)) return;
  const here = await filled(t);
  const before = await pictureOf(here);
  const [first, second] = [await freshDatabase(t), await freshDatabase(t)];
  const beside = join(temporaryFolder(t), "beside");
  await allCommands(here, { COPY_TO: beside }).json("copy");
  await allCommands(beside, { COPY_TO: first }).json("copy");
  await allCommands(temporaryFolder(t), { DATABASE_URL: first, COPY_TO: second }).json("copy");
  const back = join(temporaryFolder(t), "back");
  await allCommands(temporaryFolder(t), { DATABASE_URL: second, COPY_TO: back }).json("copy");
  assert.deepEqual(await pictureOf(back), before);
});

test("steps are followed from where an installation was moved to, and one that cannot be read is left out with a warning", async (t) => {
  if (!hasPostgres(t)) return;
  const here = await filled(t);
  const stepsIn = (dataDir: string) => {
    const folder = join(dataDir, "datasets");
    const publications = openPublications(folder);
    const noted = publications.list(openCatalogue(folder).currentVersion());
    return noted.map(({ from, version, step }) => [
      step?.changes ?? null,
      step === null ? null : publications.openStep(from!, version)!.changes,
    ]);
  };
  const whole = stepsIn(here);
  assert.equal(whole.length, 4);
  assert.equal(whole.filter(([changes]) => changes !== null).length, 3);
  const [, second] = openPublications(join(here, "datasets")).list(
    openCatalogue(join(here, "datasets")).currentVersion(),
  );
  const { from, version } = second!;
  const lost = (dataDir: string) =>
    openPublications(join(dataDir, "datasets")).stepPath(from!, version);
  const beside = join(temporaryFolder(t), "beside");
  const there = await freshDatabase(t);
  rmSync(lost(here));
  for (const place of [beside, there]) {
    const source = place === beside ? here : beside;
    const { exitCode, err } = await allCommands(source, { COPY_TO: place }).start("copy");
    assert.equal(exitCode, exitCodes.done, err);
    const warned = err.match(/what changed in \S+ was not copied, so whoever follows \/changes/g);
    assert.equal(warned?.length ?? 0, place === beside ? 1 : 0, err);
  }
  assert.equal(stepsIn(beside).filter(([changes]) => changes !== null).length, 1);
  await runSql(there, "update dataset_step_part set bytes = substr(bytes, 2)");
  const back = join(temporaryFolder(t), "back");
  const onDatabase = allCommands(temporaryFolder(t), { DATABASE_URL: there, COPY_TO: back });
  const { exitCode, err } = await onDatabase.start("copy");
  assert.equal(exitCode, exitCodes.done, err);
  assert.match(err, /was not copied, so whoever follows [^]* is damaged/);
  assert.deepEqual(
    stepsIn(back),
    whole.map(() => [null, null]),
  );
  assert.deepEqual(readdirSync(join(back, "datasets", "changes")), ["publications.json"]);
});

test("an installation whose list of publications is damaged is moved all the same, and says what that means", async (t) => {
  if (!hasPostgres(t)) return;
  const here = await filled(t);
  writeFileSync(join(here, "datasets", "changes", "publications.json"), "[{");
  const there = join(temporaryFolder(t), "there");
  const { exitCode, err } = await allCommands(here, { COPY_TO: there }).start("copy");
  assert.equal(exitCode, exitCodes.done, err);
  assert.match(err, /\/changes begins anew after the move: .*publications\.json is damaged/);
  assert.equal(err.split("begins anew after the move").length, 2);
});

test("a place that has an installation, or is none, is refused, and the source goes on", async (t) => {
  if (!hasPostgres(t)) return;
  const here = await filled(t);
  const copy = (to: string) =>
    allCommands(here, { COPY_TO: to }).refusal(exitCodes.conflict, "copy");
  const taken = await filled(t);
  assert.match(await copy(taken), /control\.sqlite is already. Name a folder that is empty/);
  const url = await freshDatabase(t);
  await runSql(url, "insert into throttle values ('x', 1, 'y')");
  assert.match(await copy(url), /table throttle has rows already. Make an empty database/);
  assert.match(await copy(await freshDatabase(t, { isMigrated: false })), /gp-records migrate/);
  assert.match(await copy(here), /COPY_TO names the installation itself/);
  const nothing = allCommands(join(temporaryFolder(t), "nothing"), { COPY_TO: url });
  assert.match(await nothing.refusal(exitCodes.conflict, "copy"), /nothing to copy/);
  await allCommands(here).text("accounts", "create", "--name", "still");
});

test("COPY_TO is asked for, may be read from a file, and its password is nowhere shown", async (t) => {
  if (!hasPostgres(t)) return;
  const here = await filled(t);
  assert.match(await allCommands(here).refusal(exitCodes.usage, "copy"), /COPY_TO is not set/);
  assert.match(
    await allCommands(here, { COPY_TO: "mysql://a:secret@b/c" }).refusal(exitCodes.usage, "copy"),
    /^error: COPY_TO must be a URL such as postgres:\/\/user:password@db\.example:5432\/records, or the path of a folder\.\n$/,
  );
  const noFolder = join(here, "control.sqlite", "below");
  assert.match(
    await allCommands(here, { COPY_TO: noFolder }).refusal(exitCodes.usage, "copy"),
    /below cannot be used \(ENOTDIR\)\. .* or name another folder with COPY_TO\.\n$/,
  );
  const url = new URL(await freshDatabase(t));
  url.password = "hush-hush";
  const file = join(temporaryFolder(t), "secret");
  writeFileSync(file, `${url.href}\n`);
  const { exitCode, out, err } = await allCommands(here, { COPY_TO_FILE: file }).start("copy");
  assert.equal(exitCode, exitCodes.done, err);
  const refused = await allCommands(here).refusal(exitCodes.conflict, "accounts", "list");
  for (const text of [out, err, refused]) assert.doesNotMatch(text, /hush/);
  assert.match(refused, /was moved to PostgreSQL at /);
});

test("names and addresses that changed hands while it was copied are where they belong", async (t) => {
  if (!hasPostgres(t)) return;
  for (const to of [join(temporaryFolder(t), "there"), await freshDatabase(t)]) {
    const here = await filled(t);
    const { start, json } = allCommands(here, { COPY_TO: to });
    // Where the lock cannot be taken, everything has been copied once, and the source serves on.
    mkdirSync(join(here, "import.lock"));
    const { err } = await start("copy");
    assert.match(err, /accounts, keys and people[^]*import\.lock cannot be taken/);
    assert.doesNotMatch(err, /is not served any more/);
    rmdirSync(join(here, "import.lock"));
    const control = new DatabaseSync(join(here, "control.sqlite"));
    control.exec(`
      update account set name_folded = 'aside' where number = 1;
      update account set name_folded = 'acme' where number = 2;
      update account set name_folded = 'acc_2' where number = 1;
      update api_key set form = 'f3' where id = 'key_a';
      update api_key set form = 'f2' where id = 'key_b';
      delete from member where person = 'per_2';
      delete from session where person = 'per_2';
      delete from link;
      delete from person where id = 'per_2';
      update account set plan = null;
      delete from plan where name <> 'default';
      delete from audit where number < 1200;
    `);
    control.close();
    const [email, email_folded] = ["bö@example.org", "bö@example.org"];
    insertRows(join(here, "control.sqlite"), {
      person: [{ id: "per_0", email, email_folded, password: "p", created_at: "c" }],
    });
    await json("copy");
    const back = join(temporaryFolder(t), "back");
    const place = to.startsWith("postgres") ? { DATABASE_URL: to } : { DATA_DIR: to };
    await allCommands(temporaryFolder(t), { ...place, COPY_TO: back }).json("copy");
    assert.deepEqual(tablesOf(back), tablesOf(here));
  }
});
