import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { createAccount } from "#accounts/accounts.ts";
import { digestText } from "#keys/api-key.ts";
import { issueKey } from "#keys/keys.ts";
import { connectPostgres } from "#store/postgres.ts";
import { migratePostgres } from "#store/postgres-schema.ts";
import { postgresSteps } from "#store/postgres-steps.ts";
import { openControl } from "#store/stores.ts";
import { unprivilegedUser } from "../../bench/postgres.ts";
import { noon, openKeys } from "../support/control.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { hasTool } from "../support/installed-tool.ts";
import { faultOf } from "../support/people.ts";
import { freshDatabase, onPostgres as test } from "../support/postgres.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** A pgbouncer before the database. @returns the URL through it. */
async function startPgbouncer(t: TestContext, databaseUrl: string, mode: string): Promise<string> {
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
pool_mode = ${mode}
`,
  );
  const child = spawn("pgbouncer", [file], { ...user, stdio: "ignore" });
  t.after(async () => {
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  });
  const url = `postgres://postgres@127.0.0.1:${port}${pathname}`;
  await eventually(async () => (await connectPostgres({ url })).close());
  return url;
}

test("a pooler that gives each transaction another connection is refused by name before anything is changed", async (t) => {
  if (!hasTool(t, "pgbouncer")) return;
  const empty = await freshDatabase(t, { isMigrated: false });
  const refused = faultOf("unusable", /pooler in transaction mode.*pool_mode = session/);
  await assert.rejects(
    migratePostgres({ url: await startPgbouncer(t, empty, "transaction") }),
    refused,
  );
  const full = await freshDatabase(t);
  const databaseUrl = await startPgbouncer(t, full, "transaction");
  await assert.rejects(openKeys(t, { dataDir: "/nowhere", databaseUrl }), refused);
});

test("a pooler that keeps a connection for a session is as good as none", async (t) => {
  if (!hasTool(t, "pgbouncer")) return;
  const empty = await freshDatabase(t, { isMigrated: false });
  const databaseUrl = await startPgbouncer(t, empty, "session");
  assert.deepEqual(
    await migratePostgres({ url: databaseUrl }),
    postgresSteps.map(({ name }) => name),
  );
  const keys = await openKeys(t, { dataDir: "/nowhere", databaseUrl });
  const control = await openControl("/nowhere", { databaseUrl });
  t.after(() => control.close());
  const account = await createAccount(control, { name: "Acme", quotas: {}, now: noon });
  await issueKey(control, { account, name: "k", expiresAt: null, now: noon });
  const { digest } = await control.database
    .selectFrom("api_key")
    .select("digest")
    .executeTakeFirstOrThrow();
  await eventually(async () => assert.ok((await keys.find(digestText(digest))) !== undefined));
});
