import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { createAccount, findAccount, listAccounts } from "#accounts/accounts.ts";
import { exportPerson } from "#accounts/personal-data.ts";
import { findPerson } from "#accounts/people.ts";
import { issueKey } from "#keys/keys.ts";
import { writeAudit } from "#store/audit.ts";
import { migratePostgres } from "#store/postgres-schema.ts";
import { type PostgresStep, postgresSteps } from "#store/postgres-steps.ts";
import { connectPostgres, openGate, placeName } from "#store/postgres.ts";
import { postgresCodeOf, postgresFault } from "#store/store-fault.ts";
import { openControl } from "#store/stores.ts";
import { unprivilegedUser } from "../../bench/postgres.ts";
import { allCommands } from "../support/all-commands.ts";
import { day, noon, openKeys } from "../support/control.ts";
import { eventually } from "../support/eventually.ts";
import { openFarAway } from "../support/far-away.ts";
import { hasTool, makeCertificate } from "../support/machine.ts";
import { faultOf } from "../support/people.ts";
import { freePort } from "../support/ports.ts";
import {
  databaseWithRoles,
  freshDatabase,
  onPostgres as test,
  postgresOfFile,
  runSql,
  startPostgres,
  urlOf,
} from "../support/postgres.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { putRequests, request, tidyUsage } from "../support/usage.ts";

const tablesIn = (url: string) =>
  runSql<{ name: string }>(
    url,
    "select tablename as name from pg_tables where schemaname = 'public' order by 1",
  );

const laterStep = (name: string, isAdditive: boolean, sql = "select 1"): PostgresStep => ({
  name,
  isAdditive,
  sql,
});

const allSteps = postgresSteps.map(({ name }) => name);

/** The control store of a database, which is closed after the test. */
async function openIn(t: TestContext, databaseUrl: string) {
  const control = await openControl("/nowhere", { databaseUrl });
  t.after(() => control.close());
  return control;
}

test("nothing but migrate makes the schema: before it a store is refused with that word, after it there is one", async (t) => {
  const url = await freshDatabase(t, { isMigrated: false });
  await assert.rejects(
    openIn(t, url),
    faultOf(
      "conflict",
      /lacks schema migrations \(0001-all, 0002-followed-views, 0003-suppressions, 0004-syncs, 0005-suppressed-gps\).*gp-records migrate/,
    ),
  );
  assert.deepEqual(await tablesIn(url), []);
  const { text, json, refusal } = allCommands(temporaryFolder(t), { DATABASE_URL: url });
  assert.match(await refusal(4, "serve"), /lacks schema migrations.*gp-records migrate/);
  assert.match(
    await text("migrate"),
    new RegExp(
      `The schema of PostgreSQL at .* is up to date: applied ${RegExp.escape(allSteps.join(", "))}\\.\n$`,
    ),
  );
  assert.deepEqual(await json("migrate"), { engine: "postgresql", steps: [] });
  await openIn(t, url);
});

test("a store is opened, checked and used over one connection", async (t) => {
  const { hostname, pathname } = new URL(await freshDatabase(t));
  const way = await openFarAway(t, join(decodeURIComponent(hostname), ".s.PGSQL.5432"));
  const control = await openIn(t, `postgres://postgres@127.0.0.1:${way.port}${pathname}`);
  await listAccounts(control);
  assert.equal(way.tries.length, 1);
});

test("of migrations at one moment each step is taken by one", async (t) => {
  const url = await freshDatabase(t, { isMigrated: false });
  const taken = await Promise.all([1, 2, 3, 4].map(() => migratePostgres(url)));
  assert.deepEqual(taken.flat(), allSteps);
});

test("a migration that fails, or whose connection dies in the middle, leaves nothing of itself nor of the steps before it", async (t) => {
  const url = await freshDatabase(t, { isMigrated: false });
  for (const sql of ["select 1 / 0", "select pg_terminate_backend(pg_backend_pid())"]) {
    const steps = [...postgresSteps, laterStep("9001-broken", true, sql)];
    await assert.rejects(migratePostgres(url, steps));
    assert.deepEqual(await tablesIn(url), [], sql);
  }
  assert.deepEqual(await migratePostgres(url), allSteps);
});

test("a newer schema is refused and left alone, unless every step that is not known is additive", async (t) => {
  const url = await freshDatabase(t);
  const additive = laterStep("9001-more", true, "alter table account add column colour text");
  assert.deepEqual(await migratePostgres(url, [...postgresSteps, additive]), ["9001-more"]);
  const control = await openIn(t, url);
  const order = { name: "Acme", quotas: {}, now: noon };
  assert.equal((await createAccount(control, order)).number, 1);
  assert.deepEqual(await migratePostgres(url), []);

  const other = laterStep("9002-other", false, "alter table account rename column name to title");
  await migratePostgres(url, [...postgresSteps, additive, other]);
  const before = await runSql(url, "select * from schema_step order by name");
  const newer = faultOf("conflict", /'9002-other'.*does not know.*Nothing was changed/);
  await assert.rejects(openIn(t, url), newer);
  await assert.rejects(migratePostgres(url), newer);
  assert.deepEqual(await runSql(url, "select * from schema_step order by name"), before);
});

test("a database of a program before the first release is refused as such and left alone", async (t) => {
  const url = await freshDatabase(t);
  await runSql(
    url,
    "delete from schema_step where name > '0001-all'; update schema_step set name = '0001-control'",
  );
  const unreleased = faultOf(
    "conflict",
    /PostgreSQL at \S+ was made by a version of gp-records that was never/,
  );
  await assert.rejects(openIn(t, url), unreleased);
  await assert.rejects(migratePostgres(url), unreleased);
  assert.equal((await runSql(url, "select name from schema_step")).length, 1);
});

test("the tables of another installation further down the search path are not taken for one's own", async (t) => {
  const url = await freshDatabase(t);
  await runSql(url, "create schema second");
  const second = `${url}?options=${encodeURIComponent("-c search_path=second,public")}`;
  await assert.rejects(openIn(t, second), faultOf("conflict", /gp-records migrate/));
  await migratePostgres(second);
  const control = await openIn(t, second);
  await createAccount(control, { name: "Acme", quotas: {}, now: noon });
  assert.deepEqual(await runSql(url, "select name from public.account"), []);
  assert.deepEqual(await runSql(url, "select name from second.account"), [{ name: "Acme" }]);
});

test("texts are sorted by their bytes, whatever the collation of the database", async (t) => {
  const { url: server } = await postgresOfFile();
  const url = urlOf({ url: server }, "sorted");
  await runSql(
    server,
    "create database sorted template template0 locale_provider icu icu_locale 'en-US'",
  );
  t.after(() => runSql(server, "drop database sorted with (force)"));
  await migratePostgres(url);
  const control = await openIn(t, url);
  for (const name of ["éa", "zb", "a b", "ab", "a-c"])
    await createAccount(control, { name, quotas: {}, now: noon });
  const names = (await listAccounts(control)).map(({ name }) => name);
  assert.deepEqual(names, ["a b", "a-c", "ab", "zb", "éa"]);
});

test("counts beyond 32 bits come back as the numbers they are", async (t) => {
  const url = await freshDatabase(t);
  const control = await openIn(t, url);
  await runSql(
    url,
    "insert into audit values (9000000000, '2026-01-01T00:00:00.000Z', 'operator', null, 'plan.set', null, '{}')",
  );
  const entry = { actor: "operator", now: noon };
  await control.write((transaction) => writeAudit(transaction, "plan.set", entry));
  const rows = await control.database
    .selectFrom("audit")
    .select("number")
    .orderBy("number")
    .execute();
  assert.deepEqual(rows, [{ number: 9_000_000_000 }, { number: 9_000_000_001 }]);
  const sums = await control.database
    .selectFrom("audit")
    .select((select) => [select.fn.countAll().as("count"), select.fn.sum("number").as("sum")])
    .executeTakeFirstOrThrow();
  assert.deepEqual(sums, { count: 2, sum: 18_000_000_001 });
});

test("a text that PostgreSQL cannot hold matches nothing, and fails nothing", async (t) => {
  const control = await openIn(t, await freshDatabase(t));
  await createAccount(control, { name: "Acme", quotas: {}, now: noon });
  for (const text of ["Acme\0", "\0", "\uD800", "a\0b@example.com"]) {
    assert.equal(await findAccount(control.database, text), undefined);
    assert.equal(await findPerson(control.database, text), undefined);
  }
});

test("a person who owns no account can be exported", async (t) => {
  const control = await openIn(t, await freshDatabase(t));
  const row = {
    id: "pe_a",
    email: "a@x.example",
    email_folded: "a@x.example",
    password: "",
    created_at: "2026-01-01T00:00:00.000Z",
  };
  await control.database.insertInto("person").values(row).execute();
  assert.match(JSON.stringify(await exportPerson(control, "pe_a", noon)), /"accounts":\[\]/);
});

test("a second writer waits for the first, but not for as long as that writes", async (t) => {
  const url = await freshDatabase(t);
  const [one, other] = [await openIn(t, url), await openIn(t, url)];
  const order = (name: string) => ({ name, quotas: {}, now: noon });
  const both = await Promise.all([
    createAccount(one, order("one")),
    createAccount(other, order("other")),
  ]);
  assert.deepEqual(new Set(both.map(({ number }) => number)), new Set([1, 2]));
  await one.write(async () => {
    await assert.rejects(
      createAccount(other, order("late")),
      faultOf("busy", /Others are writing to PostgreSQL at/),
    );
  });
  await createAccount(other, order("late"));
});

test("a database that cannot be used is named with what to do, and the password is told to nobody", async (t) => {
  const url = await freshDatabase(t);
  const secret = "hunter2-of-the-owner";
  const withSecret = (text: string) => text.replace("postgres@", `postgres:${secret}@`);
  const port = await freePort();
  const { start } = allCommands(temporaryFolder(t));
  const cases = [
    [
      withSecret(url.replace(/\/\w+$/, "/absent")),
      2,
      /refuses the login: database "absent" does not exist/,
    ],
    [
      `postgres://nobody:${secret}@${new URL(url).hostname}/records`,
      2,
      /refuses the login: role "nobody" does not exist/,
    ],
    [
      `postgres://a:${secret}@127.0.0.1:${port}/records`,
      5,
      /PostgreSQL at 127\.0\.0\.1:\d+\/records cannot be reached \(ECONNREFUSED\)/,
    ],
    // Each of its addresses is closed.
    [
      `postgres://a:${secret}@localhost:${port}/records`,
      5,
      /PostgreSQL at localhost:\d+\/records cannot be reached \(ECONNREFUSED\)/,
    ],
    [
      `postgres://a:${secret}@no-such-host.invalid/records`,
      2,
      /host name of PostgreSQL at no-such-host\.invalid\/records cannot be resolved/,
    ],
  ] as const;
  await start();
  for (const [databaseUrl, exitCode, words] of cases) {
    for (const args of [["accounts", "list"], ["migrate"], ["serve"], ["doctor", "--json"]]) {
      // Commands of one process would try a server once a second, if their URL were the same.
      const DATABASE_URL = `${databaseUrl}?application_name=${args[0]}`;
      const outcome = await allCommands(temporaryFolder(t), { DATABASE_URL }).start(...args);
      const said = outcome.out + outcome.err;
      assert.match(said.replaceAll('\\"', '"'), words);
      assert.doesNotMatch(said, new RegExp(secret));
      if (args[0] !== "doctor") assert.equal(outcome.exitCode, exitCode, said);
    }
  }
  assert.equal(
    placeName(`postgres://a:${secret}@[::1]:5433/records?sslmode=disable`),
    "PostgreSQL at [::1]:5433/records",
  );
});

test("the roles of docs/scaling.md are enough to serve, and the one that serves can make no table and rewrite no history", async (t) => {
  const { owner, serving } = await databaseWithRoles(t);
  const { json, refusal } = allCommands(temporaryFolder(t), { DATABASE_URL: serving });
  await json("accounts create --name Acme");
  const { id } = await json("keys create --account Acme --name k");
  await json("keys revoke", id);
  await json("plans set gold --per-minute 5");
  await json("accounts plan Acme gold");
  assert.match(
    await refusal(2, "datasets", "rollback"),
    /does not allow this: permission denied for table dataset.*docs\/scaling\.md/,
  );
  assert.deepEqual(await json("migrate"), { engine: "postgresql", steps: [] });
  const usage = { dataDir: "/nowhere", databaseUrl: serving };
  await putRequests(usage, [request()]);
  // First the log goes, then the totals.
  for (const now of [noon + 31 * day, noon + 500 * day])
    assert.ok((await tidyUsage(usage, now)) > 0);
  for (const sql of [
    "create table mine (a integer)",
    "create schema mine",
    "create temporary table mine (a integer)",
    "drop table api_key",
    "truncate api_key",
    "insert into schema_step values ('9999', true)",
    "delete from schema_step",
    "update dataset_state set change = change + 1",
    "delete from dataset",
    "update audit set actor = 'nobody'",
    "create or replace function note_key_change() returns trigger language plpgsql as 'begin return null; end'",
    "alter table api_key disable trigger all",
    "set role gp_records_owner",
  ])
    await assert.rejects(runSql(serving, sql), { code: "42501" }, sql);
  await runSql(owner, "delete from schema_step");
  assert.match(
    await refusal(2, "migrate"),
    /does not allow this: permission denied.*docs\/scaling\.md/,
  );
});

test("while a server is away it is tried once a second, by all threads together, and at once when it is there again", async () => {
  let now = 0n;
  const memory = new SharedArrayBuffer(16);
  const [one, other] = [openGate(memory, () => now), openGate(memory, () => now)];
  assert.deepEqual([one.mayTry(), other.mayTry()], [true, true]);
  one.tried(false);
  for (let second = 1; second <= 5; second++) {
    now += 999_999_999n;
    assert.deepEqual([one.mayTry(), other.mayTry()], [false, false]);
    now += 1n;
    assert.deepEqual([other.mayTry(), one.mayTry()], [true, false]);
    other.tried(false);
  }
  one.tried(true);
  assert.deepEqual([one.mayTry(), other.mayTry()], [true, true]);
});

test("a session has the name and the limits it was given, a lock among them, and a fault keeps PostgreSQL's code", async (t) => {
  const url = await freshDatabase(t);
  const session = await connectPostgres(url, {
    name: "gp-records test",
    limits: { statement: 321 },
    settings: { jit: "off" },
  });
  t.after(() => session.close());
  const [shown] = await session.query(
    `select current_setting('application_name') as name, current_setting('statement_timeout') as statement,
         current_setting('lock_timeout') as lock, current_setting('jit') as jit`,
  );
  assert.deepEqual(shown, {
    name: "gp-records test",
    statement: "321ms",
    lock: "1500ms",
    jit: "off",
  });
  const codeOf = (sql: string) => session.query(sql).catch(postgresCodeOf);
  assert.equal(await codeOf("select pg_sleep(5)"), "57014");
  assert.equal(await codeOf("select no_such_function()"), "42883");
  assert.equal(await codeOf("select 1 / 0"), "22012");
  await session.query("create table one (a integer primary key); insert into one values (1)");
  assert.equal(await codeOf("insert into one values (1)"), "23505");
  const prepared = { name: "twice", text: "select $1::integer * 2 as twice" };
  for (const value of [1, 2, 3])
    assert.deepEqual(await session.query(prepared, [value]), [{ twice: 2 * value }]);
  const statements = await session.query("select name from pg_prepared_statements");
  assert.deepEqual(statements, [{ name: "twice" }]);
});

test("queries that are asked of one session at once are made one after the other, and the next one after one that failed", async (t) => {
  const warnings: Error[] = [];
  const warn = (warning: Error) => void warnings.push(warning);
  process.on("warning", warn);
  t.after(() => process.off("warning", warn));
  const session = await connectPostgres(await freshDatabase(t));
  t.after(() => session.close());
  const answers = await Promise.allSettled([
    session.query("create table one as select 1 as number from pg_sleep(0.05)"),
    session.query("select no_such_column"),
    session.query("select number from one"),
  ]);
  assert.deepEqual(
    answers.map((answer) => (answer.status === "fulfilled" ? answer.value : answer.status)),
    [[], "rejected", [{ number: 1 }]],
  );
  assert.deepEqual(warnings, []);
});

test("a connection that has ended is told from a statement that failed", async (t) => {
  const url = await freshDatabase(t);
  const session = await connectPostgres(url);
  t.after(() => session.close());
  await assert.rejects(session.query("select no_such_column"), faultOf("unusable"));
  assert.equal(session.isOver, false);
  await assert.rejects(
    session.query("select pg_terminate_backend(pg_backend_pid())"),
    faultOf("busy", /cannot be reached/),
  );
  assert.equal(session.isOver, true);
});

test("sslmode means what it means everywhere: encrypted, of a known authority, of the right name, or not at all", async (t) => {
  if (!hasTool(t, "openssl")) return;
  const folder = temporaryFolder(t);
  const { certificate, key } = makeCertificate(folder, ["db.example", "localhost"]);
  const user = unprivilegedUser();
  if (user !== undefined)
    for (const path of [folder, key, certificate]) chownSync(path, user.uid, user.gid);
  const port = await freePort();
  const server = await startPostgres({
    listen_addresses: "127.0.0.1",
    port: String(port),
    ssl: "on",
    ssl_cert_file: certificate,
    ssl_key_file: key,
  });
  t.after(() => server.stop());
  const isEncrypted = async (host: string, query: string) => {
    const session = await connectPostgres(`postgres://postgres@${host}:${port}/postgres${query}`);
    const rows = await session.query<{ ssl: boolean }>(
      "select ssl from pg_stat_ssl where pid = pg_backend_pid()",
    );
    session.close();
    return rows[0]!.ssl;
  };
  const known = `&sslrootcert=${certificate}`;
  assert.equal(await isEncrypted("127.0.0.1", ""), false);
  assert.equal(await isEncrypted("127.0.0.1", "?sslmode=disable"), false);
  assert.equal(await isEncrypted("127.0.0.1", "?sslmode=require"), true);
  assert.equal(await isEncrypted("127.0.0.1", `?sslmode=verify-ca${known}`), true);
  assert.equal(await isEncrypted("localhost", `?sslmode=verify-full${known}`), true);
  await assert.rejects(
    isEncrypted("localhost", "?sslmode=verify-full"),
    faultOf("unusable", /localhost:\d+\/postgres cannot be used: .*certificate/),
  );
  await assert.rejects(
    isEncrypted("127.0.0.1", `?sslmode=verify-full${known}`),
    faultOf("unusable", /127\.0\.0\.1:\d+\/postgres cannot be used: .*127\.0\.0\.1/),
  );
});

/** A pgbouncer before the database. @returns the URL through it. */
async function startPgbouncer(t: TestContext, databaseUrl: string, ...settings: string[]) {
  const { hostname, pathname } = new URL(databaseUrl);
  const folder = temporaryFolder(t);
  const user = unprivilegedUser();
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  const port = await freePort();
  const file = join(folder, "pgbouncer.ini");
  writeFileSync(
    file,
    `[databases]
* = host=${decodeURIComponent(hostname)} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
${settings.join("\n")}
`,
  );
  const child = spawn("pgbouncer", [file], { ...user, stdio: "ignore" });
  t.after(async () => {
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  });
  const url = `postgres://postgres@127.0.0.1:${port}${pathname}`;
  await eventually(async () => (await connectPostgres(url)).close());
  return url;
}

test("a pooler that gives each transaction another connection is refused by name before anything is changed", async (t) => {
  if (!hasTool(t, "pgbouncer")) return;
  const empty = await freshDatabase(t, { isMigrated: false });
  const refused = faultOf("unusable", /pooler in transaction mode.*pool_mode = session/);
  await assert.rejects(
    migratePostgres(await startPgbouncer(t, empty, "pool_mode = transaction")),
    refused,
  );
  const full = await freshDatabase(t);
  const databaseUrl = await startPgbouncer(t, full, "pool_mode = transaction");
  await assert.rejects(openKeys(t, { dataDir: "/nowhere", databaseUrl }), refused);
});

test("a pooler that keeps a connection for a session is as good as none", async (t) => {
  if (!hasTool(t, "pgbouncer")) return;
  const empty = await freshDatabase(t, { isMigrated: false });
  const databaseUrl = await startPgbouncer(t, empty, "pool_mode = session");
  assert.deepEqual(await migratePostgres(databaseUrl), allSteps);
  const keys = await openKeys(t, { dataDir: "/nowhere", databaseUrl });
  const control = await openIn(t, databaseUrl);
  const account = await createAccount(control, { name: "Acme", quotas: {}, now: noon });
  await issueKey(control, { account, name: "k", expiresAt: null, now: noon });
  const { digest } = await control.database
    .selectFrom("api_key")
    .select("digest")
    .executeTakeFirstOrThrow();
  await eventually(async () => assert.ok((await keys.find(digest.toBase64())) !== undefined));
});

test("where connections run out, the limit that was reached is named", async (t) => {
  const url = await freshDatabase(t);
  const refused = async (through: string, words: RegExp) => {
    const { result: held } = await eventually(() => connectPostgres(through));
    await assert.rejects(connectPostgres(through), faultOf("busy", words));
    held.close();
  };
  await runSql(url, "create role few login connection limit 1");
  const limits = /no free connections: .*CONNECTION LIMIT .*default_pool_size/s;
  await refused(url.replace("postgres@", "few@"), limits);
  if (!hasTool(t, "pgbouncer")) return;
  const [pool, mode] = ["default_pool_size = 1", "pool_mode = session"];
  await refused(await startPgbouncer(t, url, mode, "max_client_conn = 1"), limits);
  const silent = /did not answer in time \(Query read timeout\)\..*default_pool_size/;
  await refused(await startPgbouncer(t, url, mode, pool), silent);
});

test("a server that starts is waited for, a pooler's refusal looked up", async () => {
  const told = (code: string, message: string) =>
    (postgresFault(Object.assign(new Error(message), { code }), "X") as Error).message;
  assert.match(told("08P01", "query_wait_timeout"), /^X has no free connections/);
  assert.match(told("57P03", "the database system is starting up"), /^X cannot .* Wait until it/);
  assert.match(told("08P01", "server login has been failing"), /^X cannot .* or of the pooler/);
});
