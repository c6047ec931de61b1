import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { exitCodes } from "#cli/command-fault.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import { allCommands } from "../support/all-commands.ts";
import { mainPath, outcomeOf } from "../support/command-line.ts";
import { changeFacts } from "../support/damage.ts";
import { importRecords } from "../support/dataset.ts";
import { freshDatabase, hasPostgres, postgresOfFile, runSql } from "../support/postgres.ts";
import { machine } from "../support/shared-datasets.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** A machine of its own: commands with a data folder that only the database connects to others. */
function commandsOn(t: TestContext, url: string) {
  const dataDir = temporaryFolder(t);
  const records = (...names: string[]) => {
    const path = join(dataDir, `${names.join("-")}.ndjson`);
    const lines = names.map((name) => JSON.stringify({ record: "gp", id: name, name }));
    writeFileSync(path, lines.join("\n"));
    return path;
  };
  const settings = { DATABASE_URL: url };
  const commands = allCommands(dataDir, settings);
  const importOf = (names: string[], ...options: string[]) =>
    commands.json("import ndjson --source own", records(...names), ...options);
  return { dataDir, settings, records, importOf, ...commands };
}

const twoMachines = async (t: TestContext) => {
  if (!hasPostgres(t)) return null;
  const database = await freshDatabase(t);
  return { database, one: commandsOn(t, database), other: commandsOn(t, database) };
};

const cached = (dataDir: string) =>
  readdirSync(join(dataDir, "datasets")).filter((name) => name.endsWith(".sqlite"));

test("datasets imported on one machine are listed, compared, published and gone back from on another", async (t) => {
  const machines = await twoMachines(t);
  if (machines === null) return;
  const { one, other } = machines;
  assert.deepEqual(await one.json("datasets list"), []);
  const first = await one.importOf(["alpha"]);
  assert.equal(first.outcome, "published");
  // Builds on what the other machine published, whose file it did not have.
  const second = await other.importOf(["alpha", "beta"]);
  assert.deepEqual([second.added, second.unchanged], [1, 1]);
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
  const diff = await other.json("datasets diff", first.version, staged.version);
  assert.deepEqual(
    diff.examples.map(({ name }: { name: string }) => name),
    ["beta", "gamma"],
  );
  assert.equal((await other.json("datasets publish", staged.version)).version, staged.version);
  const shown = await one.json("datasets show");
  assert.equal(shown.version, staged.version);
  assert.equal(shown.published_after, second.version);
  assert.equal((await one.json("datasets rollback")).version, second.version);
  assert.equal((await other.json("datasets rollback")).version, first.version);
  const refused = await one.refusal(exitCodes.conflict, "datasets rollback");
  assert.match(refused, /There is no dataset before the current one/);
  // The folder of whoever published points there, too, so that its server starts with it.
  const folder = openCatalogue(join(other.dataDir, "datasets"));
  assert.equal(folder.currentVersion(), first.version);
});

test("an import that changes nothing publishes nothing, and a dry run leaves no trace", async (t) => {
  const machines = await twoMachines(t);
  if (machines === null) return;
  const { database, one, other } = machines;
  await one.importOf(["alpha"]);
  const state = async () => {
    const kept = await machine(t, database).store.read();
    const [row] = await runSql(database, "select change, current from dataset_state");
    return { row, datasets: kept.list(), added: kept.added };
  };
  const before = await state();
  assert.equal((await other.importOf(["alpha"])).outcome, "unchanged");
  assert.equal((await other.importOf(["alpha", "beta"], "--dry-run")).outcome, "dry_run");
  assert.deepEqual(await state(), before);
});

test("verify names what is stored damaged, and fetches anew what is only damaged on this machine", async (t) => {
  const machines = await twoMachines(t);
  if (machines === null) return;
  const { database, one, other } = machines;
  const first = await one.importOf(["alpha"]);
  const second = await one.importOf(["beta"]);
  const sound = await other.json("datasets verify");
  assert.deepEqual(
    sound.map(({ version, fault }: any) => [version, fault]),
    [
      [first.version, null],
      [second.version, null],
    ],
  );
  // It fetches all of them, and keeps none that was not there before.
  assert.deepEqual(cached(other.dataDir), []);
  const path = openCatalogue(join(one.dataDir, "datasets")).pathOf(second.version);
  const whole = readFileSync(path);
  const damaged = Buffer.from(whole);
  damaged[5000]! ^= 1;
  writeFileSync(path, damaged);
  const { exitCode, err } = await one.start("datasets verify");
  assert.equal(exitCode, exitCodes.done);
  assert.match(err, new RegExp(`warning: ${path} was damaged on this machine`));
  assert.deepEqual(readFileSync(path), whole);
  await runSql(
    database,
    "update dataset_part set bytes = set_byte(bytes, 99, get_byte(bytes, 99) # 1) where version = $1",
    [second.version],
  );
  for (const at of [one, other]) {
    const found = await at.start("datasets verify");
    assert.equal(found.exitCode, exitCodes.unhealthy);
    assert.match(found.out, new RegExp(`${first.version}  sound`));
    assert.match(
      found.out,
      new RegExp(
        `${second.version}  Part 1 of 1 of the stored dataset ${second.version} is damaged`,
      ),
    );
    assert.match(found.out, /Restore the database from its backup/);
  }
  // This machine still has it whole, and says so.
  const here = await one.start("datasets verify", second.version);
  assert.match(here.out, new RegExp(`${path} is a whole copy of it`));
});

test("a damaged file of the cache is fetched anew before anything is built on it", async (t) => {
  const machines = await twoMachines(t);
  if (machines === null) return;
  const { one } = machines;
  const first = await one.importOf(["alpha"]);
  const path = openCatalogue(join(one.dataDir, "datasets")).pathOf(first.version);
  const bytes = readFileSync(path);
  bytes[9000]! ^= 1;
  writeFileSync(path, bytes);
  const second = await one.importOf(["alpha", "beta"]);
  assert.deepEqual([second.added, second.unchanged], [1, 1]);
});

test("while one machine imports, every other change is refused and names its host, process and time", async (t) => {
  const machines = await twoMachines(t);
  if (machines === null) return;
  const { database, one, other } = machines;
  const { version } = await one.importOf(["alpha"]);
  const release = await machine(t, database).store.take();
  for (const args of [
    ["import ndjson --source own", other.records("beta")],
    ["datasets", "publish", version],
    ["datasets", "rollback"],
    ["datasets", "pin", version],
    ["datasets", "prune"],
  ])
    assert.match(
      await other.refusal(exitCodes.busy, ...args),
      new RegExp(`process ${process.pid} on \\S+, since \\d{4}-\\d\\d-\\d\\dT`),
    );
  // Whoever only reads is not held up.
  assert.equal((await other.json("datasets list")).length, 1);
  await release();
});

test("instances lists the servers, and publishing what one of them cannot read is refused and names it", async (t) => {
  const machines = await twoMachines(t);
  if (machines === null) return;
  const { database, one, other } = machines;
  const first = await one.importOf(["alpha"]);
  const staged = await one.importOf(["beta"], "--stage");
  assert.deepEqual(await one.json("instances"), []);
  assert.match(await one.text("instances"), /No server was seen/);
  const { store } = machine(t, database);
  const old = {
    id: "an-old-one",
    host: "db-reader-3",
    pid: 4711,
    startedAt: "2026-11-20T03:00:00Z",
    program: "0.0.9",
    formats: ["1.1"],
    served: null,
  };
  await store.noteServer(old);
  const [row] = await other.json("instances");
  assert.deepEqual(
    { ...row, seen_at: "" },
    {
      id: "an-old-one",
      host: "db-reader-3",
      pid: 4711,
      live: true,
      seen_at: "",
      started_at: "2026-11-20T03:00:00Z",
      program: "0.0.9",
      formats: ["1.1"],
      served: null,
    },
  );
  assert.match(await other.text("instances"), /db-reader-3 +4711 +running .* 1\.1 +-/);
  const named =
    /The server on db-reader-3, process 4711, runs gp-records 0\.0\.9, which reads datasets of format 1\.1 and not 3\.1/;
  const file = other.records("gamma");
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

test("instances without DATABASE_URL says that there are none to share with", async (t) => {
  const { refusal } = allCommands(temporaryFolder(t));
  assert.match(await refusal(exitCodes.usage, "instances"), /DATABASE_URL is not set/);
});

test("a folder with datasets of its own is refused as a cache and left as it is", async (t) => {
  if (!hasPostgres(t)) return;
  const database = await freshDatabase(t);
  const { dataDir, records } = commandsOn(t, database);
  const file = records("alpha");
  await allCommands(dataDir).json("import ndjson --source own", file);
  const before = readdirSync(join(dataDir, "datasets"));
  const { refusal } = allCommands(dataDir, { DATABASE_URL: database });
  assert.match(await refusal(exitCodes.conflict, "datasets list"), /has datasets of its own/);
  assert.deepEqual(readdirSync(join(dataDir, "datasets")), before);
});

test("with PostgreSQL away every command ends with one line that names it, and nothing is left behind", async (t) => {
  const machines = await twoMachines(t);
  if (machines === null) return;
  const { one } = machines;
  const { version } = await one.importOf(["alpha"]);
  const before = readdirSync(join(one.dataDir, "datasets"));
  const postgres = await postgresOfFile();
  await postgres.stop();
  try {
    for (const args of [
      ["import ndjson --source own", one.records("beta")],
      ["datasets list"],
      ["datasets publish", version],
      ["instances"],
    ]) {
      const err = await one.refusal(exitCodes.busy, ...args);
      assert.match(err, /^error: PostgreSQL at .* cannot be reached .*Is it running\?\n$/);
    }
  } finally {
    await postgres.start();
  }
  assert.deepEqual(readdirSync(join(one.dataDir, "datasets")), before);
  assert.equal((await one.importOf(["beta"])).outcome, "published");
});

test("verify tells of every dataset, and ends with 6 naming the file that is damaged and the mend", async (t) => {
  const dataDir = temporaryFolder(t);
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  const importGp = async (name: string) =>
    (await importRecords(catalogue, [{ record: "gp", id: "a", name }])).published!.version;
  const [older, newer] = [await importGp("A"), await importGp("B")];
  const { text, start, json, refusal } = allCommands(dataDir);
  assert.equal(await text("datasets verify"), `${older}  sound\n${newer}  sound, current\n`);

  const file = catalogue.pathOf(older);
  truncateSync(file, 40_000);
  const { exitCode, out, err } = await start("datasets verify");
  assert.equal(exitCode, exitCodes.unhealthy);
  assert.equal(err, "error: 1 of 2 datasets is not as published.\n");
  assert.match(out, new RegExp(`^${older}  ${file} was cut off: .*\n  It is not served: put `));
  const [check] = JSON.parse((await start("datasets verify --json")).out);
  assert.deepEqual(Object.keys(check), ["version", "file", "current", "fault", "mend"]);

  assert.equal((await json("datasets verify", newer))[0].fault, null);
  assert.match(await refusal(exitCodes.conflict, "datasets verify x"), /no dataset 'x'/);
});

test("verify tells of facts that are not true, also where it is asked for that dataset alone, and what it says mends them", async (t) => {
  const dataDir = temporaryFolder(t);
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  const { published } = await importRecords(catalogue, [{ record: "gp", id: "a", name: "A" }]);
  const { version, hash } = published!;
  const { text, start, refusal } = allCommands(dataDir);
  for (const change of [{ hash: `0${hash.slice(1)}x` }, { version: `${version.slice(0, -1)}x` }]) {
    changeFacts(catalogue.folder, version, change);
    const { exitCode, out, err } = await start("datasets verify", version);
    assert.equal(exitCode, exitCodes.unhealthy, err);
    assert.match(
      out,
      new RegExp(`write the facts of the file into it, .*'gp-records datasets publish ${version}'`),
    );
    assert.match(await refusal(exitCodes.conflict, "datasets publish", version), /instead of/);

    const [, member, right] = /"(\w+)" is \S+ instead of "([^"]+)"/.exec(out)!;
    changeFacts(catalogue.folder, version, { [member!]: right });
    await text("datasets publish", version);
    assert.match(await text("datasets verify"), /sound, current/);
  }
});

test("a FIFO in the place of the current dataset, or of one to be published, ends each command with its path", async (t) => {
  const dataDir = temporaryFolder(t);
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  const importGp = async (name: string) =>
    (await importRecords(catalogue, [{ record: "gp", id: "a", name }])).published!.version;
  const [older, newer] = [await importGp("A"), await importGp("B")];
  const records = join(dataDir, "records.ndjson");
  writeFileSync(records, '{"record":"gp","id":"a","name":"C"}\n');
  const makeFifo = (path: string) => {
    rmSync(path, { force: true });
    execFileSync("mkfifo", [path]);
    return path;
  };
  // Whoever opens one of them would never end.
  const refused = async (path: string, ...args: string[]) => {
    const { exitCode, err } = await outcomeOf(
      "timeout",
      ["120", process.execPath, mainPath, ...args],
      { PATH: process.env["PATH"], DATA_DIR: dataDir },
    );
    assert.equal(exitCode, exitCodes.conflict, args.join(" "));
    assert.ok(err.includes(path), err);
    assert.match(err, /is a FIFO, not a file/);
  };
  const published = makeFifo(catalogue.pathOf(older));
  await refused(published, "datasets", "rollback");
  await refused(published, "datasets", "publish", older);
  await refused(published, "datasets", "diff", older, newer);
  const current = makeFifo(catalogue.pathOf(newer));
  await refused(current, "import", "ndjson", records, "--source", "two", "--merge");
  await refused(current, "export", "--format", "csv", "-o", join(dataDir, "files"));
});

test("a directory, a FIFO, a socket and a device in the place of a dataset's file are named by verify and doctor, which wait for none of them", async (t) => {
  const dataDir = temporaryFolder(t);
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  const { published } = await importRecords(catalogue, [{ record: "gp", id: "a", name: "A" }]);
  const { version: current } = published!;
  const factsOf = (version: string) => join(catalogue.folder, `${version}.json`);
  const socket = createServer();
  t.after(() => socket.close());
  const makeFifo = (path: string) => execFileSync("mkfifo", [path]);
  const others = [
    [factsOf, "a directory", (path: string) => mkdirSync(path)],
    [factsOf, "a FIFO", makeFifo],
    [factsOf, "a socket", (path: string) => once(socket.listen(path), "listening")],
    [factsOf, "a device", (path: string) => symlinkSync("/dev/zero", path)],
    [catalogue.pathOf, "a FIFO", makeFifo],
  ] as const;
  const words: string[] = [];
  for (const [place, [pathOf, kind, make]] of others.entries()) {
    const version = `20261101T00000${place}Z-00000000`;
    for (const fileOf of [factsOf, catalogue.pathOf])
      if (fileOf === pathOf) await make(fileOf(version));
      else copyFileSync(fileOf(current), fileOf(version));
    words.push(`${pathOf(version)} is ${kind}, not a file`);
  }
  // Whoever opens one of them would never end.
  const run = (...args: string[]) =>
    outcomeOf("timeout", ["60", process.execPath, mainPath, ...args], {
      PATH: process.env["PATH"],
      DATA_DIR: dataDir,
      PORT: "0",
    });
  for (const args of [["datasets", "verify"], ["doctor"]]) {
    const { exitCode, out, err } = await run(...args);
    assert.equal(exitCode, exitCodes.unhealthy, err);
    for (const found of words) assert.ok(out.includes(found), out);
    assert.match(out, /Find out who put it there, move it away, put the file back/);
    assert.ok(!out.includes(factsOf(current)), out);
  }

  const { exitCode, err } = await run("datasets", "list");
  assert.equal(exitCode, exitCodes.conflict);
  assert.ok(err.startsWith(`error: ${words[0]}. `), err);

  const pointer = join(catalogue.folder, "current");
  rmSync(pointer);
  makeFifo(pointer);
  const { out } = await run("doctor");
  assert.ok(out.includes(`${pointer} is a FIFO, not a file`), out);
});
