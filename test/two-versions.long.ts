import assert from "node:assert/strict";
import { appendFileSync, cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { PostgresStep } from "#store/postgres-steps.ts";
import { cast } from "./support/cast.ts";
import { outcomeOf } from "./support/command-line.ts";
import { eventually } from "./support/eventually.ts";
import { assertSixtyEachTime, publishShared, startInstance } from "./support/instances.ts";
import { freshDatabase, runSql, whyNoPostgres } from "./support/postgres.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

const skip = whyNoPostgres() ?? false;
const root = join(import.meta.dirname, "..");
const path = "/fetch-gp?gp_name=northwind";

interface Program {
  main: string;
  /** Runs a command of it. @returns what it printed. */
  done(...args: string[]): Promise<string>;
}

/** This program as a later version would be, with further steps of the schema. */
function laterProgram(
  t: TestContext,
  databaseUrl: string,
  version: string,
  steps: readonly PostgresStep[],
): Program {
  const folder = temporaryFolder(t);
  for (const part of ["src", "docs", "examples", "package.json", "openapi.json", "CHANGELOG.md"])
    cpSync(join(root, part), join(folder, part), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const stated = join(folder, "package.json");
  const own = JSON.parse(readFileSync(stated, "utf8")) as object;
  writeFileSync(stated, JSON.stringify({ ...own, version }));
  const file = join(folder, "src/store/postgres-steps.ts");
  appendFileSync(file, `(postgresSteps as PostgresStep[]).push(...${JSON.stringify(steps)});\n`);
  const main = join(folder, "src/cli/main.ts");
  const environment = {
    PATH: process.env["PATH"],
    DATABASE_URL: databaseUrl,
    DATA_DIR: temporaryFolder(t),
  };
  return {
    main,
    async done(...args) {
      const { exitCode, out, err } = await outcomeOf(
        process.execPath,
        [main, ...args],
        environment,
      );
      assert.equal(exitCode, 0, `${args.join(" ")}: ${err}`);
      return out;
    },
  };
}

test(
  "two versions of the program serve one database at once, and the earlier one refuses a schema that it cannot work with",
  { skip },
  async (t) => {
    const databaseUrl = await freshDatabase(t);
    const shared = { databaseUrl };
    await publishShared(t, shared, cast);
    const earlier = [await startInstance(t, shared), await startInstance(t, shared)];
    const sql = "alter table account add column colour text";
    const additive = { name: "9001-more", isAdditive: true, sql };
    const later = laterProgram(t, databaseUrl, "98.0.0", [additive]);
    assert.match(await later.done("migrate"), /9001-more/);

    const { main } = later;
    const both = [
      ...earlier,
      await startInstance(t, shared, { main }),
      // The earlier one can still be started.
      await startInstance(t, shared),
    ];
    await later.done("accounts", "create", "--name", "Analysts");
    const made = await later.done(
      ..."keys create --account Analysts --name first --json".split(" "),
    );
    const { id, key } = JSON.parse(made) as { id: string; key: string };
    const statusesOf = async () =>
      Promise.all(both.map(async ({ get }) => (await get(path, { "x-api-key": key })).status));
    assert.deepEqual(await statusesOf(), [200, 200, 200, 200]);
    await assertSixtyEachTime(t, shared, both, 3);
    await eventually(async () => {
      const listed = JSON.parse(await later.done("instances", "--json")) as { program: string }[];
      const programs = listed.map(({ program }) => program).toSorted();
      assert.equal(programs.length, 4);
      assert.equal(programs.filter((program) => program === "98.0.0").length, 1);
    });
    await later.done("keys", "revoke", id);
    await eventually(async () => assert.deepEqual(await statusesOf(), [401, 401, 401, 401]));

    const breaking = { name: "9002-other", isAdditive: false, sql: "select 1" };
    const latest = laterProgram(t, databaseUrl, "99.0.0", [additive, breaking]);
    await latest.done("migrate");
    const schema = () => runSql(databaseUrl, "select * from schema_step order by name");
    const before = await schema();
    await assert.rejects(startInstance(t, shared), (error: Error) => {
      assert.match(error.message, /serve ended with \d+: .*9002-other/s);
      t.diagnostic(error.message.trim());
      return true;
    });
    assert.deepEqual(await schema(), before);
  },
);
