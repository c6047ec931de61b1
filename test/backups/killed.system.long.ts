import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { allCommands } from "../support/all-commands.ts";
import { mainPath, outcomeOf } from "../support/command-line.ts";
import { eventually } from "../support/eventually.ts";
import { freshDatabase, onPostgres as test, runSql } from "../support/postgres.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { usageOf } from "../support/usage.ts";
import { fillInstallation } from "./installation.ts";

/** Counts what the process asks PostgreSQL, and ends it at the nth question, before that is sent or right after it. */
const killAtQuestion = (n: number, isSent: boolean) => `
  import pg from ${JSON.stringify(import.meta.resolve("pg"))};
  const { query } = pg.Client.prototype;
  let asked = 0;
  pg.Client.prototype.query = function (...args) {
    const isLast = ++asked === ${n};
    if (isLast && !${isSent}) process.kill(process.pid, "SIGKILL");
    const answer = query.apply(this, args);
    if (isLast) setImmediate(() => process.kill(process.pid, "SIGKILL"));
    return answer;
  };
  process.on("exit", () => console.error("asked " + asked));
`;

const runKilled = (args: readonly string[], settings: Record<string, string>, script: string) =>
  outcomeOf(
    process.execPath,
    ["--import", `data:text/javascript,${encodeURIComponent(script)}`, mainPath, ...args],
    { ...process.env, ...settings },
  );

const momentsOf = (asked: number, moments: number) =>
  Array.from({ length: moments }, (_, i) => Math.ceil(((i + 1) * asked) / moments));

/** What tells one database from another, and from an empty one. */
const pictureOf = async (url: string) => ({
  accounts: await runSql(url, "select * from account order by number"),
  keys: await runSql(url, "select * from api_key order by id"),
  audit: (await runSql(url, "select count(*) from audit where action <> 'backup.restored'"))[0],
  datasets: await runSql(url, "select version, facts, is_added from dataset order by 1"),
  parts: await runSql(url, "select name, number, md5(bytes) from dataset_part order by 1, 2"),
  state: await runSql(url, "select current, publications from dataset_state"),
  usage: await usageOf({ dataDir: "/nowhere", databaseUrl: url }),
});

test("a restore into a database that is killed at any moment leaves it empty or whole", async (t) => {
  const dataDir = join(temporaryFolder(t), "here");
  await fillInstallation(dataDir);
  const file = join(temporaryFolder(t), "all.tar");
  await allCommands(dataDir).text("backup", file, "--requests");
  const empty = await pictureOf(await freshDatabase(t));
  const restore = (url: string, script: string) =>
    runKilled(["restore", file, "--to", url], { DATA_DIR: dataDir }, script);
  const url = await freshDatabase(t);
  const { err } = await restore(url, killAtQuestion(0, false));
  const asked = Number(/^asked (\d+)$/m.exec(err)![1]);
  assert.ok(asked > 10, err);
  const whole = await pictureOf(url);
  const outcomes: string[] = [];
  for (const [i, n] of momentsOf(asked, 6).entries()) {
    const target = await freshDatabase(t);
    const { exitCode } = await restore(target, killAtQuestion(n, i % 2 === 1));
    assert.equal(exitCode, null, `at ${n} of ${asked}`);
    // PostgreSQL finishes what it was asked, or notices that nobody is there.
    await eventually(async () =>
      assert.deepEqual(
        await runSql(
          target,
          "select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'",
        ),
        [],
      ),
    );
    const found = await pictureOf(target);
    const isWhole = found.accounts.length > 0;
    assert.deepEqual(found, isWhole ? whole : empty, `at ${n} of ${asked}`);
    outcomes.push(isWhole ? "new" : "old");
    // Whoever tries again is let in where nothing is there.
    if (i === 2) {
      assert.equal(outcomes.at(-1), "old");
      await allCommands(dataDir).text("restore", file, "--to", target);
      assert.deepEqual(await pictureOf(target), whole);
    }
  }
  assert.ok(
    outcomes.slice(0, -1).every((outcome) => outcome === "old"),
    outcomes.join(),
  );
});

test("a backup of a database that is killed at any moment leaves no file of that name", async (t) => {
  const dataDir = join(temporaryFolder(t), "here");
  await fillInstallation(dataDir);
  const file = join(temporaryFolder(t), "all.tar");
  const url = await freshDatabase(t);
  await allCommands(dataDir).text("backup", file);
  await allCommands(dataDir).text("restore", file, "--to", url);
  const backup = (to: string, script: string) =>
    runKilled(["backup", to], { DATA_DIR: temporaryFolder(t), DATABASE_URL: url }, script);
  const { err } = await backup(`${file}.whole`, killAtQuestion(0, false));
  const asked = Number(/^asked (\d+)$/m.exec(err)![1]);
  assert.ok(asked > 10, err);
  for (const n of momentsOf(asked, 4)) {
    assert.equal((await backup(`${file}.${n}`, killAtQuestion(n, false))).exitCode, null);
    assert.ok(!existsSync(`${file}.${n}`));
  }
});
