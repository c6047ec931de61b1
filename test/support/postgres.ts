/** PostgreSQL for tests: one for all tests of a file, started with the first database that is asked for, or one of a test's own. */
import { createHash } from "node:crypto";
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, test, type TestContext } from "node:test";
import pg from "pg";
import { migratePostgres } from "#store/postgres-schema.ts";
import { temporaryFolder } from "../../bench/clean-up.ts";
import { whyNot } from "../../bench/not-installed.ts";
import {
  copyCluster,
  findPostgres,
  initCluster,
  signalPostgres,
  unprivilegedUser,
} from "../../bench/postgres.ts";

/** Returns why no PostgreSQL can be started here; null where one can. */
export const whyNoPostgres = () => whyNot(findPostgres);

/** Takes the place of `test` of node:test for what needs a PostgreSQL; skipped where there is none. */
export const onPostgres = (name: string, run: (t: TestContext) => Promise<void>): void =>
  void test(name, { skip: whyNoPostgres() ?? false }, run);

/** Marks the test as skipped where there is none. */
export function hasPostgres(t: TestContext): boolean {
  const reason = whyNoPostgres();
  if (reason !== null) t.skip(reason);
  return reason === null;
}

/** Nothing of a test has to survive a power failure, and a few databases need little memory. */
const usualSettings = {
  shared_buffers: "32MB",
  synchronous_commit: "off",
  full_page_writes: "off",
  autovacuum: "off",
};

export type TestPostgres = Awaited<ReturnType<typeof startPostgres>>;

/** Starts one of the test's own, which ends with this process. @param under as of `Cluster.start`. */
export async function startPostgres(
  settings: Readonly<Record<string, string>> = {},
  under?: readonly string[],
) {
  const like = await (prepared ??= prepareCluster());
  const cluster = initCluster(temporaryFolder("test"), { ...usualSettings, ...settings }, like);
  let server = await cluster.start(under);
  let isStopped = false;
  return {
    /** Of the superuser; `urlOf` names another database. */
    url: server.url,
    /** Ends it, connections at once, without losing anything. */
    async stop() {
      if (!isStopped) await server.stop();
      isStopped = true;
    },
    /** Starts it again. */
    async start() {
      server = await cluster.start(under);
      isStopped = false;
    },
    /** Freezes it and all its connections. */
    pause: () => signalPostgres(server, "SIGSTOP"),
    resume: () => signalPostgres(server, "SIGCONT"),
  };
}

/** The URL of another database of the same server. */
export const urlOf = ({ url }: Pick<TestPostgres, "url">, database: string): string =>
  url.replace(/\/postgres$/, `/${database}`);

let ofFile: Promise<TestPostgres> | null = null;
after(async () => (await ofFile)?.stop());

/** The server of `freshDatabase`. */
export const postgresOfFile = (): Promise<TestPostgres> => (ofFile ??= startPostgres());

/** A database of every server here, for copies: one whose schema is current. */
export const template = "migrated";

/** Makes a database whose schema is current, on a server of the test's own. @returns its URL. */
export async function makeRecords(server: Pick<TestPostgres, "url">): Promise<string> {
  await runSql(server.url, `create database records template ${template}`);
  return urlOf(server, "records");
}

let prepared: Promise<string> | null = null;

/**
 * Makes the cluster that all servers here begin with, unless another process has: that takes seconds, and a copy of it
 * a tenth of one.
 * @returns its folder.
 */
async function prepareCluster(): Promise<string> {
  const root = join(import.meta.dirname, "../..");
  const madeOf = [
    "bench/postgres.ts",
    "src/store/control-tables.ts",
    "src/store/postgres-schema.ts",
    "src/store/postgres-steps.ts",
    "src/store/usage-schema.ts",
    "test/support/postgres.ts",
  ].map((path) => readFileSync(join(root, path), "utf8"));
  const facts = JSON.stringify([findPostgres(), unprivilegedUser() ?? null, madeOf]);
  const name = createHash("sha256").update(facts).digest("hex").slice(0, 16);
  const folder = join(root, "node_modules/.cache/postgres");
  const kept = join(folder, name);
  if (existsSync(kept)) return kept;
  const cluster = initCluster(temporaryFolder("test"), usualSettings);
  const server = await cluster.start();
  await runSql(server.url, `create database ${template}`);
  await migratePostgres(urlOf(server, template));
  await server.stop();
  mkdirSync(folder, { recursive: true });
  for (const outdated of globSync("*", { cwd: folder, exclude: [`${name}*`] }))
    rmSync(join(folder, outdated), { recursive: true, force: true });
  // Others may be making the same: whoever is first, theirs is used.
  const own = `${kept}-${process.pid}`;
  copyCluster(cluster.data, own);
  try {
    renameSync(own, kept);
  } catch (error) {
    if (!existsSync(kept)) throw error;
    rmSync(own, { recursive: true });
  }
  return kept;
}

let databases = 0;

/** @returns the URL of a database of the test's own, which is dropped after it and, unless migrated, has no table. */
export async function freshDatabase(
  t: TestContext,
  { isMigrated = true }: { isMigrated?: boolean } = {},
): Promise<string> {
  const server = await postgresOfFile();
  const name = `own_${++databases}`;
  const from = isMigrated ? template : "template0";
  await runSql(server.url, `create database ${name} template ${from} strategy file_copy`);
  t.after(() => runSql(server.url, `drop database ${name} with (force)`));
  return urlOf(server, name);
}

/** A database with the two roles of docs/scaling.md, whose tables the owner has made. @returns the URL of each of them. */
export async function databaseWithRoles(t: TestContext) {
  const server = await postgresOfFile();
  const [roles = "", grants = "", revocations = ""] = [
    ...readFileSync("docs/scaling.md", "utf8").matchAll(/```sql\n([^`]+)```/g),
  ].map(([, statements]) => statements!);
  // Statements that cannot be part of a transaction, one by one.
  for (const statement of roles.split(";\n").filter((one) => one.trim() !== ""))
    await runSql(server.url, statement);
  t.after(async () => {
    await runSql(server.url, "drop database records with (force)");
    await runSql(server.url, "drop role gp_records_owner; drop role gp_records_server");
  });
  const database = urlOf(server, "records");
  const asRole = (role: string) => database.replace("//postgres@", `//gp_records_${role}@`);
  const [owner, serving] = [asRole("owner"), asRole("server")];
  await runSql(database, grants);
  await migratePostgres(owner);
  await runSql(owner, revocations);
  return { owner, serving };
}

/** Runs statements as the superuser, on a connection of its own. @returns the rows of the last one. */
export async function runSql<Row = Record<string, unknown>>(
  url: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  try {
    const result = (await client.query(text, [...values])) as unknown as
      | pg.QueryResult
      | pg.QueryResult[];
    return (Array.isArray(result) ? result.at(-1)! : result).rows as Row[];
  } finally {
    await client.end();
  }
}
