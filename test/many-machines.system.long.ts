import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test, type TestContext } from "node:test";
import { openCatalogue } from "#datasets/catalogue.ts";
import { type PostgresStep, postgresSteps } from "#store/postgres-steps.ts";
import { startProgram } from "../bench/program.ts";
import { cast } from "./support/cast.ts";
import { commandInOwnProcess, mainPath, outcomeOf } from "./support/command-line.ts";
import { importRecords } from "./support/dataset.ts";
import { eventually } from "./support/eventually.ts";
import { assertSixtyEachTime, publishShared, startInstance } from "./support/instances.ts";
import { hasTool } from "./support/machine.ts";
import { newKey } from "./support/own-process.ts";
import { freePort } from "./support/ports.ts";
import { freshDatabase, hasPostgres, runSql, startPostgres } from "./support/postgres.ts";
import { startServer } from "./support/server-process.ts";
import { startService } from "./support/service.ts";
import { importShared } from "./support/shared-datasets.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

/** What another version of this program says it is. */
const otherProgram = "9.9.9";

/** This version with one more step of the schema, which it takes for the newest. @returns its folder. */
function programWithStep(t: TestContext, { name, isAdditive, sql }: PostgresStep): string {
  const folder = temporaryFolder(t);
  for (const part of ["bin", "src", "examples", "openapi.json"])
    cpSync(part, join(folder, part), { recursive: true });
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
  edit("package.json", folder, /"version": "[^"]+"/, `"version": "${otherProgram}"`);
  const step = `  { name: "${name}", isAdditive: ${isAdditive}, sql: ${JSON.stringify(sql)} },\n];\n`;
  edit("src/store/postgres-steps.ts", folder, /\];\n$/, step);
  return folder;
}

function edit(path: string, folder: string, pattern: RegExp, by: string): void {
  const text = readFileSync(path, "utf8");
  if (!pattern.test(text)) throw new Error(`${path} has no ${pattern}`);
  writeFileSync(
    join(folder, path),
    text.replace(pattern, () => by),
  );
}

const page = readFileSync("docs/running.md", "utf8");
/** The user of a server, whom a machine that tests need not have. */
const asServer = "runuser -u gp-records -- ";
const way = page.slice(
  page.indexOf("## From one machine to many"),
  page.indexOf("## The first month"),
);
/** What is to be typed, in its order. */
const blocks = [...way.matchAll(/```sh\n([^]*?)```/g)].map(([, text]) => text!);
const [
  install = "",
  settings = "",
  makeDatabase = "",
  migrate = "",
  move = "",
  fill = "",
  serve = "",
  compare = "",
  save = "",
  tryBackup = "",
  upgrade = "",
  back = "",
  restore = "",
] = blocks;

/** SQL statements, each on one line. */
const statementsOf = (text: string) =>
  text
    .split(";")
    .map((one) => one.trim().replaceAll(/\s+/g, " "))
    .filter((one) => /^(?:create|revoke|grant|alter)\b/.test(one));

test("what docs/running.md has the superuser and the owner type is what docs/scaling.md explains", () => {
  assert.equal(blocks.length, 13);
  assert.match(install, /^apt-get install --yes postgresql redis-server curl openssl\n$/);
  const typed = (makeDatabase + migrate)
    .replaceAll(/^.*(?:<<SQL|^SQL|\\connect.*)$/gm, ";")
    .replaceAll("$1", "records")
    .replace("$OWNER_PASSWORD", "OWNER-PASSWORD")
    .replace("$SERVER_PASSWORD", "SERVER-PASSWORD");
  const explained = [
    ...readFileSync("docs/scaling.md", "utf8").matchAll(/```sql\n([^`]+)```/g),
  ].flatMap(([, text]) => statementsOf(text!));
  assert.ok(explained.length >= 9);
  assert.deepEqual(statementsOf(typed), explained);
});

/** One bash for the whole page, as in one terminal. It and what it started end with the test. */
function openTerminal(t: TestContext, folder: string, environment: Record<string, string>) {
  const bash = spawn("bash", ["-euo", "pipefail"], {
    cwd: folder,
    env: { PATH: process.env["PATH"], HOME: folder, ...environment },
    // A group of its own, with the servers that it starts.
    detached: true,
  });
  let isOver = false;
  const ended = once(bash, "close").then(() => (isOver = true));
  let said = "";
  bash.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
  bash.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  t.after(async () => {
    try {
      process.kill(-bash.pid!, "SIGKILL");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
    await ended;
  });
  let typed = 0;
  return {
    /** @returns what was printed. @throws Error with it where a command failed. */
    async type(text: string): Promise<string> {
      const mark = `done-${++typed}`;
      const before = said.length;
      bash.stdin.write(`${text}\necho ${mark}\n`);
      const isDone = () => said.includes(`${mark}\n`, before);
      while (!isDone() && !isOver) await Promise.race([once(bash.stdout, "data"), ended]);
      if (!isDone()) throw new Error(`${text}\nfailed: ${said.slice(before)}`);
      return said.slice(before, said.indexOf(mark, before));
    },
  };
}

/** Debian's Redis, with a configuration of its own that it may rewrite; ends with the test. */
async function startOwnRedis(t: TestContext, folder: string): Promise<number> {
  const port = await freePort();
  const args = ["--port", `${port}`, "--bind", "127.0.0.1", "--dir", folder, "--save", ""];
  const configuration = join(folder, "redis.conf");
  await outcomeOf("touch", [configuration], process.env);
  const redis = spawn("redis-server", [configuration, ...args], { stdio: "ignore" });
  const ended = once(redis, "exit");
  t.after(() => {
    redis.kill("SIGTERM");
    return ended;
  });
  await eventually(async () => {
    const { out } = await outcomeOf("redis-cli", ["-p", `${port}`, "ping"], process.env);
    assert.equal(out, "PONG\n");
  });
  return port;
}

/** Whoever asks one instance, and the other one where that does not answer, as a proxy does. @returns what ends it. */
function askEither(ports: readonly number[], path: string, key: string) {
  const failures: string[] = [];
  let answers = 0;
  let isOver = false;
  const ask = async () => {
    let why = "";
    for (const port of ports)
      try {
        const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
          headers: { "x-api-key": key },
        });
        await answer.arrayBuffer();
        if (answer.ok) return answers++;
        why += ` ${answer.status}`;
      } catch (error) {
        why += ` ${(error as Error).message}`;
      }
    return failures.push(why);
  };
  const running = (async () => {
    while (!isOver) await ask();
  })();
  return async () => {
    isOver = true;
    await running;
    return { answers, failures };
  };
}

test("docs/running.md leads from one machine to many as it is written: backup and restore, rolling upgrade and going back", async (t) => {
  if (!hasPostgres(t) || !hasTool(t, "redis-server") || !hasTool(t, "curl")) return;
  const folder = temporaryFolder(t);
  const port = await freePort();
  const postgres = await startPostgres({ listen_addresses: "127.0.0.1", port: `${port}` });
  t.after(() => postgres.stop());
  const redisPort = await startOwnRedis(t, temporaryFolder(t));
  const ports = { ONE: await freePort(), TWO: await freePort(), THREE: await freePort() };
  const [, socket = ""] = /@([^/]+)\//.exec(postgres.url)!;
  const terminal = openTerminal(t, folder, {
    PGHOST: decodeURIComponent(socket),
    PGPORT: `${port}`,
    // What a server answers must not depend on how busy the machine of the test is.
    EVENT_LOOP_DELAY_MAX_MS: "0",
  });
  // Only root may become another user, which for everybody else PostgreSQL takes on its word.
  const type = (text: string) =>
    terminal.type(
      process.getuid?.() === 0
        ? text
        : text.replace("runuser -u postgres -- psql", "psql --username=postgres"),
    );
  const value = async (name: string) => (await type(`echo "$${name}"`)).trim();

  const old = join(folder, "old");
  await importRecords(openCatalogue(join(old, "datasets")), cast);
  const movedKey = await newKey(old, "Readers");
  const own: Record<string, string> = {
    "127.0.0.1:5432": `127.0.0.1:${port}`,
    "127.0.0.1:6379": `127.0.0.1:${redisPort}`,
    "ONE=8081": `ONE=${ports.ONE}`,
    "TWO=8082": `TWO=${ports.TWO}`,
    "THREE=8083": `THREE=${ports.THREE}`,
    "PROGRAM=/opt/gp-records ": `PROGRAM=${resolve(".")} `,
    "OLD=/var/lib/gp-records": `OLD=${old}`,
    "NEW=/opt/gp-records-new": `NEW=${programWithStep(t, { name: "9001-colour", isAdditive: true, sql: "alter table account add column colour text" })}`,
  };
  await type(
    Object.entries(own).reduce((text, [written, used]) => {
      assert.ok(text.includes(written), written);
      return text.replace(written, () => used);
    }, settings),
  );
  await type(makeDatabase);
  await type(migrate);
  assert.ok(move.includes(asServer));
  assert.match(
    await type(move.replace(asServer, "")),
    /^The database now has the dataset \S+, 1 account, 1 key neither/m,
  );
  await type(fill);
  await type(serve);
  const key = await value("KEY");
  assert.match(key, /^gpr_\w{36}$/);
  await type(compare);
  const path = "/fetch-gp?gp_name=fernhill";
  const ask = async (name: keyof typeof ports, presented = key) => {
    const answer = await fetch(`http://127.0.0.1:${ports[name]}${path}`, {
      headers: { "x-api-key": presented },
    });
    const [, remaining] = /"day";r=(\d+)/.exec(answer.headers.get("ratelimit") ?? "") ?? [];
    return { status: answer.status, text: await answer.text(), remaining: Number(remaining) };
  };
  assert.equal((await ask("ONE", movedKey)).status, 200);
  const first = await ask("ONE");
  assert.equal(JSON.parse(first.text).data[0].name, "Fernhill Residential");
  // One that got no answer from Redis in time counts by itself, and shares its counts again soon.
  await eventually(
    async () => {
      const { remaining } = await ask("ONE");
      assert.equal((await ask("TWO")).remaining, remaining - 1);
    },
    20_000,
    2000,
  );

  await type(save);
  await type(tryBackup);

  // The quota of the client that asks meanwhile must not end it.
  await type(
    "$PROGRAM/bin/gp-records accounts limits Analysts --per-minute 1000000 --per-hour 1000000 --per-day 1000000",
  );
  const end = askEither([ports.ONE, ports.TWO], path, key);
  const isRestarted = upgrade.indexOf("stop two");
  await type(upgrade.slice(0, isRestarted));
  const programs = async () =>
    (JSON.parse(await type("$PROGRAM/bin/gp-records instances --json")) as { program: string }[])
      .map(({ program }) => program)
      .toSorted();
  await eventually(async () => assert.deepEqual(await programs(), ["0.1.0", otherProgram]));
  // Both versions at once, on one schema.
  assert.equal((await ask("ONE")).text, first.text);
  assert.equal((await ask("TWO")).text, first.text);
  await type(upgrade.slice(isRestarted));
  await eventually(async () => assert.deepEqual(await programs(), [otherProgram, otherProgram]));
  await type(back);
  await eventually(async () => assert.deepEqual(await programs(), ["0.1.0", "0.1.0"]));
  const { answers, failures } = await end();
  assert.deepEqual(failures, []);
  assert.ok(answers > 100);

  await type('$PROGRAM/bin/gp-records keys create --account Analysts --name "after the backup"');
  const ownerUrl = await value("OWNER_URL");
  const future = programWithStep(t, {
    name: "9002-title",
    isAdditive: false,
    sql: "alter table account rename column colour to tint",
  });
  await type(`DATABASE_URL=$OWNER_URL ${future}/bin/gp-records migrate`);
  const tables = () =>
    runSql(
      ownerUrl,
      "select table_name, column_name from information_schema.columns where table_schema = 'public' order by 1, 2",
    );
  const before = await tables();
  const refused = await outcomeOf(process.execPath, [mainPath, "serve"], {
    PATH: process.env["PATH"],
    DATA_DIR: join(folder, "four"),
    DATABASE_URL: await value("DATABASE_URL"),
    COUNTERS_URL: await value("COUNTERS_URL"),
    PORT: "0",
  });
  assert.equal(refused.exitCode, 4, refused.err);
  assert.match(refused.err, /'9002-title'.*does not know/);
  assert.deepEqual(await tables(), before);
  await type(restore);
  const steps = await runSql(ownerUrl, "select name from schema_step order by name");
  const names = postgresSteps.map(({ name }) => ({ name }));
  assert.deepEqual(steps, names);
  for (const name of ["ONE", "TWO"] as const) assert.equal((await ask(name)).text, first.text);
  assert.doesNotMatch(await type("$PROGRAM/bin/gp-records keys list"), /after the backup/);
  // What was published before is published from then on, too: the roles have what they need.
  await type(fill.split("\n")[0]!.replace("mine", "another"));
  await type("stop one; stop two");
});

test("servers of two versions admit exactly the quota, and accept and refuse the same keys", async (t) => {
  if (!hasPostgres(t)) return;
  const databaseUrl = await freshDatabase(t);
  const shared = { databaseUrl };
  await publishShared(t, shared, cast);
  const sql = "alter table account add column colour text";
  const root = programWithStep(t, { name: "9001-colour", isAdditive: true, sql });
  const dataDir = temporaryFolder(t);
  const run = async (command: string) => {
    const order = { root, dataDir, settings: { DATABASE_URL: databaseUrl } };
    const { exitCode, out, err } = await startProgram(command.split(" "), order).ended;
    assert.equal(exitCode, 0, `${command}: ${err}`);
    return out;
  };
  const earlier = await startInstance(t, shared);
  await run("migrate");
  // The earlier version can still be started.
  const both = [earlier, await startInstance(t, shared, { root }), await startInstance(t, shared)];
  await run("accounts create --name Analysts");
  const made = await run("keys create --account Analysts --name first --json");
  const { id, key } = JSON.parse(made) as { id: string; key: string };
  const assertAll = async (expected: number) => {
    for (const { get } of both) {
      const { status } = await get("/fetch-gp?gp_name=northwind", { "x-api-key": key });
      assert.equal(status, expected);
    }
  };
  await assertAll(200);
  await assertSixtyEachTime(t, shared, both, 2);
  await run(`keys revoke ${id}`);
  await eventually(() => assertAll(401));
});

test("a dump restored into another database serves the same to the same keys, and their quotas go on where they were", async (t) => {
  if (!hasPostgres(t)) return;
  const url = await freshDatabase(t);
  await importShared(t, url, cast);
  const on = (DATABASE_URL: string) =>
    startService(t, { records: null, settings: { DATABASE_URL } });
  const before = await on(url);
  const path = "/fetch-gp?gp_name=northwind";
  await eventually(async () => assert.equal((await before.get("/ready")).status, 200));
  const { text, headers } = await before.get(path);
  await before.stop();
  const file = join(temporaryFolder(t), "records.dump");
  const run = async (program: string, ...args: string[]) => {
    const { exitCode, err } = await outcomeOf(program, args, process.env);
    assert.equal(exitCode, 0, err);
  };
  await run("pg_dump", "--format=custom", `--file=${file}`, url);
  const other = await freshDatabase(t, { isMigrated: false });
  await run("pg_restore", "--exit-on-error", "--no-owner", `--dbname=${other}`, file);
  const after = await on(other);
  const withKey = { "x-api-key": before.key };
  await eventually(async () => assert.equal((await after.get("/ready")).status, 200));
  const again = await after.get(path, withKey);
  assert.equal(again.text, text);
  const left = (found: Headers) => Number(/"day";r=(\d+)/.exec(found.get("ratelimit")!)![1]);
  assert.equal(left(again.headers), left(headers) - 1);
});

/** The commands of the page's first hour, in their order; `serve` is started apart. */
function firstHour(): string[] {
  const page = readFileSync("docs/running.md", "utf8");
  const hour = page.slice(page.indexOf("## The first hour"), page.indexOf("## On a server"));
  const commands = [...hour.matchAll(/`((?:DATA_DIR=\S+ \S+ )?bin\/gp-records [^`]+)`/g)];
  return commands.map(([, command]) => command!).filter((command) => !command.endsWith("serve"));
}

test("the first hour of docs/running.md works word by word in an empty folder", async (t) => {
  const folder = temporaryFolder(t);
  const dataDir = join(folder, "data");
  const commands = firstHour();
  assert.equal(commands.length, 7);
  let key = "";
  for (const command of commands) {
    const inFolder = command.replaceAll("first.tar", join(folder, "first.tar"));
    const environment = { ...process.env, DATA_DIR: dataDir, PORT: "0" };
    const { exitCode, out, err } = await outcomeOf("bash", ["-c", inFolder], environment);
    assert.equal(exitCode, 0, `${command}: ${err}`);
    key ||= /gpr_\w{36}/.exec(out)?.[0] ?? "";
    if (command.includes("--dry-run")) {
      const args = command.replace(" --dry-run", "").split(" ").slice(1);
      assert.equal((await commandInOwnProcess(args, dataDir)).exitCode, 0);
    }
  }
  const server = await startServer(t, { dataDir });
  const { status, body } = await server.get("/fetch-gp?gp_name=fernhill", { "x-api-key": key });
  assert.equal(status, 200);
  assert.equal(body.data[0].name, "Fernhill Residential");
});
