import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { exitCodes } from "#cli/command-fault.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import { gp } from "../datasets/published.ts";
import { allCommands } from "../support/all-commands.ts";
import { flipByte } from "../support/damage.ts";
import { eventually } from "../support/eventually.ts";
import { linesOf, readLines } from "../support/json-lines.ts";
import { freshDatabase, onPostgres as test, postgresOfFile, runSql } from "../support/postgres.ts";
import { machine } from "../support/shared-datasets.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** A machine of its own: commands with a data folder that only the database connects to others. */
function commandsOn(t: TestContext, url: string) {
  const dataDir = temporaryFolder(t);
  const recordsOf = (...names: string[]) => {
    const path = join(dataDir, `${names.join("-")}.ndjson`);
    writeFileSync(path, linesOf(...names.map((name) => gp(name))));
    return path;
  };
  const commands = allCommands(dataDir, { DATABASE_URL: url });
  const importOf = (names: string[], ...options: string[]) =>
    commands.json("import ndjson --source own", recordsOf(...names), ...options);
  return { dataDir, recordsOf, importOf, ...commands };
}

const twoMachines = async (t: TestContext) => {
  const database = await freshDatabase(t);
  return { database, one: commandsOn(t, database), other: commandsOn(t, database) };
};

test("datasets imported on one machine are listed, compared, published and gone back from on another, where nothing changes none is, and one change at a time names its host, process and time", async (t) => {
  const { database, one, other } = await twoMachines(t);
  assert.deepEqual(await one.json("datasets list"), []);
  const first = await one.importOf(["alpha"]);
  assert.equal(first.outcome, "published");
  // Builds on what the other machine published, whose file it did not have.
  const second = await other.importOf(["alpha", "beta"]);
  assert.deepEqual([second.added, second.unchanged], [1, 1]);
  assert.equal((await one.importOf(["alpha", "beta"])).outcome, "unchanged");
  assert.equal((await one.importOf(["alpha", "beta", "gamma"], "--dry-run")).outcome, "dry_run");
  const staged = await one.importOf(["alpha", "beta", "gamma"], "--stage");
  assert.equal(staged.outcome, "staged");
  const states = async (at: typeof one) =>
    (await at.json("datasets list")).map((row: any) => [row.version, row.current, row.staged]);
  const expected = [
    [first.version, false, false],
    [second.version, true, false],
    [staged.version, false, true],
  ];
  assert.deepEqual(await states(one), expected);
  assert.deepEqual(await states(other), expected);
  const changes = await other.text("datasets diff", first.version, staged.version, "--ndjson");
  const changed = readLines(changes).map(({ record }) => record.name);
  assert.deepEqual(changed, ["beta", "gamma"]);
  assert.equal((await other.json("datasets publish", staged.version)).version, staged.version);
  const shown = await one.json("datasets show");
  assert.equal(shown.version, staged.version);
  assert.equal(shown.published_after, second.version);
  assert.equal((await one.json("datasets rollback")).version, second.version);
  assert.equal((await other.json("datasets rollback")).version, first.version);
  const refused = await one.refusal(exitCodes.conflict, "datasets rollback");
  assert.match(refused, /No published dataset comes before the current one/);
  // The folder of whoever published points there, too, so that its server starts with it.
  const folder = openCatalogue(join(other.dataDir, "datasets"));
  assert.equal(folder.currentVersion(), first.version);
  const release = await machine(t, database).store.take();
  assert.match(
    await other.refusal(exitCodes.busy, "datasets rollback"),
    new RegExp(`process ${process.pid} on \\S+, since \\d{4}-\\d\\d-\\d\\dT`),
  );
  await release();
});

test("verify names what is stored damaged, and fetches anew what is only damaged on this machine", async (t) => {
  const { database, one, other } = await twoMachines(t);
  const first = await one.importOf(["alpha"]);
  const second = await one.importOf(["beta"]);
  const checks = await other.json("datasets verify");
  const sound = checks.filter(({ fault }: any) => fault === null);
  const versions = sound.map(({ version }: any) => version);
  assert.deepEqual(versions, [first.version, second.version]);
  // It fetches all of them, and keeps none that was not there before.
  const cached = readdirSync(join(other.dataDir, "datasets"));
  assert.ok(!cached.some((name) => name.endsWith(".sqlite")), cached.join());
  const path = openCatalogue(join(one.dataDir, "datasets")).pathOf(second.version);
  const whole = readFileSync(path);
  flipByte(path, 5000);
  const { exitCode } = await one.start("datasets verify");
  assert.equal(exitCode, exitCodes.done);
  assert.deepEqual(readFileSync(path), whole);
  await runSql(
    database,
    "update dataset_part set bytes = set_byte(bytes, 99, get_byte(bytes, 99) # 1) where name = $1",
    [second.version],
  );
  for (const at of [one, other]) {
    const found = await at.start("datasets verify");
    assert.equal(found.exitCode, exitCodes.unhealthy);
    assert.match(found.out, new RegExp(`${first.version}  sound`));
    const damage = `Part 1 of 1 of the file ${second.version} in the database is damaged`;
    assert.match(found.out, new RegExp(`${second.version}  ${damage}`));
    assert.match(found.out, /Restore the database from its backup; until then, .* rollback'/);
  }
  // A roll-back goes round the current dataset alone.
  await runSql(database, "delete from dataset_part where name = $1", [first.version]);
  const older = await other.start("datasets verify", first.version);
  assert.match(older.out, /is missing\.\n  Restore the database from its backup\.\n/);
});

test("a damaged file of the cache is fetched anew before anything is built on it", async (t) => {
  const { one } = await twoMachines(t);
  const first = await one.importOf(["alpha"]);
  flipByte(openCatalogue(join(one.dataDir, "datasets")).pathOf(first.version), 9000);
  const second = await one.importOf(["alpha", "beta"]);
  assert.deepEqual([second.added, second.unchanged], [1, 1]);
});

test("instances lists the servers of a database, and publishing what one of them cannot read is refused and names it", async (t) => {
  const { database, one, other } = await twoMachines(t);
  const first = await one.importOf(["alpha"]);
  const staged = await one.importOf(["beta"], "--stage");
  const alone = allCommands(one.dataDir);
  assert.match(await alone.refusal(exitCodes.usage, "instances"), /DATABASE_URL is not set/);
  assert.deepEqual(await one.json("instances"), []);
  assert.match(await one.text("instances"), /No server was seen/);
  const { store } = machine(t, database);
  const old = {
    id: "an-old-one",
    host: "db-reader-3",
    pid: 4711,
    program: "0.0.9",
    formats: ["1.1"],
    served: null,
  };
  await store.noteServer(old);
  const [{ seen_at, started_at, ...row }] = await other.json("instances");
  assert.deepEqual(row, { ...old, live: true });
  for (const time of [seen_at, started_at]) assert.match(time, /^\d{4}-\d\d-\d\dT/);
  assert.match(await other.text("instances"), /db-reader-3 +4711 +running .* 1\.1 +-/);
  const named =
    /The server on db-reader-3, process 4711, runs gp-records 0\.0\.9, which reads datasets of format 1\.1 but not of format 3\.1/;
  const file = other.recordsOf("gamma");
  for (const [advice, ...args] of [
    ["--stage", "import", "ndjson", file, "--source", "own"],
    ["--force", "datasets", "publish", staged.version],
  ] as const) {
    const refused = await other.refusal(exitCodes.conflict, ...args);
    assert.match(refused, named);
    assert.ok(refused.includes(advice), refused);
  }
  const force = ["datasets", "publish", staged.version, "--force"];
  assert.equal((await other.json(...force)).version, staged.version);
  const back = await other.refusal(exitCodes.conflict, "datasets rollback");
  assert.match(back, named);
  assert.ok(back.includes(`publish ${first.version} --force`), back);
  // One that was not seen for a while holds nobody up.
  await runSql(database, "update instance set seen_at = seen_at - interval '1 minute'");
  assert.equal((await other.json("instances"))[0].live, false);
  assert.equal((await other.json("datasets rollback")).version, first.version);
});

test("with PostgreSQL away every command ends with one line that names it, and nothing is left behind", async (t) => {
  const { one } = await twoMachines(t);
  const { version } = await one.importOf(["alpha"]);
  const before = readdirSync(join(one.dataDir, "datasets"));
  const postgres = await postgresOfFile();
  await postgres.stop();
  try {
    for (const args of [
      ["import ndjson --source own", one.recordsOf("beta")],
      ["datasets list"],
      ["datasets publish", version],
      ["instances"],
    ]) {
      const err = await one.refusal(exitCodes.busy, ...args);
      assert.match(
        err,
        /^error: .*PostgreSQL at .* Make sure that it is running .*that this machine can connect to it\.\n$/,
      );
    }
  } finally {
    await postgres.start();
  }
  assert.deepEqual(readdirSync(join(one.dataDir, "datasets")), before);
  // A process tries a database that was away only once a second.
  await eventually(async () => assert.equal((await one.importOf(["beta"])).outcome, "published"));
});
