import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { formatVersion } from "#datasets/format.ts";
import { type PostgresStep, postgresSteps } from "#store/postgres-steps.ts";
import { cast } from "./support/cast.ts";
import { outcomeOf } from "./support/command-line.ts";
import { eventually } from "./support/eventually.ts";
import {
  assertSixtyEachTime,
  type Instance,
  publishShared,
  startInstance,
} from "./support/instances.ts";
import { freshDatabase, runSql, whyNoPostgres } from "./support/postgres.ts";
import { startRedis, whyNoRedis } from "./support/redis.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

const skip = whyNoPostgres() ?? whyNoRedis() ?? false;
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
  const text = readFileSync(file, "utf8");
  const longer = text.replace(
    /(export const postgresSteps[^=]*= \[[^]*?)\];/,
    (_, before: string) => `${before}${steps.map((step) => `${JSON.stringify(step)},`).join("")}];`,
  );
  assert.notEqual(longer, text);
  writeFileSync(file, longer);
  return programIn(t, folder, databaseUrl);
}

/** The program in a folder. */
function programIn(t: TestContext, folder: string, databaseUrl: string): Program {
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

const git = (...args: string[]) =>
  execFileSync("git", ["-C", root, ...args], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });

/** The newest commit before the newest step of the schema, as far as the history that is here reaches; null where it does not. */
function commitBeforeNewestStep(): string | null {
  const file = "src/store/postgres-steps.ts";
  const namesIn = (text: string) =>
    [...text.matchAll(/\bname: "(\d{4}-[\w-]+)"/g)].map(([, name]) => name!);
  const own = postgresSteps.map(({ name }) => name);
  try {
    for (const commit of git("log", "--format=%H", "--", file).split("\n").filter(Boolean)) {
      const earlier = `${commit}~1`;
      if (namesIn(git("show", `${earlier}:${file}`)).length < own.length)
        return git("rev-parse", earlier).trim();
    }
  } catch {
    // No repository, as in a release, or a shallow clone, whose oldest commit has no parent.
  }
  return null;
}

test(
  "the program as it was before the newest step of the schema serves one database with this one, during an upgrade and after it",
  { skip },
  async (t) => {
    const commit = commitBeforeNewestStep();
    if (commit === null)
      return t.skip("skipped: the history of the repository is not here, or not far enough");
    const format = git("show", `${commit}:src/datasets/format.ts`);
    if (!format.includes(`formatVersion = ${formatVersion};`))
      return t.skip(`skipped: ${commit} has datasets of another format`);
    const folder = temporaryFolder(t);
    const archive = execFileSync("git", ["-C", root, "archive", commit], { maxBuffer: 1 << 30 });
    execFileSync("tar", ["-x", "-C", folder], { input: archive });
    // Its packages are not those of today.
    execFileSync("npm", ["ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund"], {
      cwd: folder,
      stdio: ["ignore", "ignore", "inherit"],
    });
    t.diagnostic(`the earlier one is ${commit}`);

    const databaseUrl = await freshDatabase(t, { isMigrated: false });
    const earlier = programIn(t, folder, databaseUrl);
    const now = programIn(t, root, databaseUrl);
    await earlier.done("migrate");
    const source = join(temporaryFolder(t), "cast.ndjson");
    writeFileSync(source, cast.map((record) => `${JSON.stringify(record)}\n`).join(""));
    await earlier.done("import", "ndjson", source, "--source", "own");
    await earlier.done("accounts", "create", "--name", "Analysts");
    const made = await earlier.done(
      ..."keys create --account Analysts --name first --json".split(" "),
    );
    const { id, key } = JSON.parse(made) as { id: string; key: string };
    const headers = { "x-api-key": key };
    const redis = await startRedis();
    t.after(() => redis.end());
    const { main } = earlier;
    const [onPostgres, onRedis] = [{ databaseUrl }, { databaseUrl, countersUrl: redis.url }];
    const before = [
      await startInstance(t, onPostgres, { main }),
      await startInstance(t, onRedis, { main }),
    ];
    const assertAll = async (instances: readonly Instance[], status: number) => {
      for (const { get } of instances) assert.equal((await get(path, headers)).status, status);
    };
    await assertAll(before, 200);

    const added = postgresSteps.at(-1)!;
    assert.ok((await now.done("migrate")).includes(added.name));
    assert.ok(
      added.isAdditive,
      `${added.name} needs all instances stopped: say so here, and in CHANGELOG.md`,
    );
    await assertAll(before, 200);
    const all: Instance[] = [...before];
    for (const shared of [onPostgres, onRedis]) {
      // An earlier one can still be started.
      const both = [
        await startInstance(t, shared, { main }),
        await startInstance(t, shared),
        await startInstance(t, shared, { main }),
        await startInstance(t, shared),
      ];
      await assertSixtyEachTime(t, shared, both, 3);
      all.push(...both);
    }
    await assertAll(all, 200);
    await now.done("keys", "revoke", id);
    await eventually(() => assertAll(all, 401));
  },
);
