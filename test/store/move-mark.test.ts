import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createAccount } from "#accounts/accounts.ts";
import { exitCodes } from "#cli/command-fault.ts";
import { takeLock } from "#store/lock.ts";
import { MovedAway, type MoveMark, writeFolderMark } from "#store/move-mark.ts";
import { openControl } from "#store/stores.ts";
import { allCommands } from "../support/all-commands.ts";
import { noon } from "../support/control.ts";
import { eventually } from "../support/eventually.ts";
import { freshDatabase, hasPostgres, runSql } from "../support/postgres.ts";
import { startService, type TestService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const path = "/fetch-gp?gp_name=northwind";

const markOf = (side: MoveMark["side"], doneAt: string | null = null): MoveMark => ({
  id: "m1",
  side,
  other: "PostgreSQL at db.example/records",
  begunAt: "2026-11-21T12:00:00.000Z",
  doneAt,
});

/** Clients are sent elsewhere, and the process is alive. */
async function assertRefuses(service: TestService): Promise<void> {
  const reasonNow = async () => (await service.get("/ready")).body.reason;
  await eventually(async () => assert.equal(await reasonNow(), "draining"));
  for (const one of [path, "/ready", "/account/sign-in"]) {
    const { status, body, headers } = await service.get(one, { accept: "application/json" });
    assert.deepEqual([one, status, body.reason], [one, 503, "draining"]);
    assert.equal(headers.get("retry-after"), "1");
  }
  assert.equal((await service.get("/health")).status, 200);
}

test("a server whose folder is marked refuses requests and lets the folder go, and nothing starts on it", async (t) => {
  const service = await startService(t);
  const { dataDir } = service;
  assert.equal((await service.get(path)).status, 200);
  writeFolderMark(dataDir, markOf("source"));
  await assertRefuses(service);
  await eventually(() => takeLock(join(dataDir, "server.lock"), "held").release());
  assert.match(service.log.join("\n"), /requests are refused from now on: \S+ is being moved to/);

  const { refusal, start } = allCommands(dataDir);
  const reason = /is being moved to PostgreSQL at db\.example\/records .* copy --undo/;
  for (const args of [
    ["accounts", "list"],
    ["datasets", "list"],
    ["requests", "find", "req_1"],
    ["serve"],
  ])
    assert.match(await refusal(exitCodes.conflict, ...args), reason, args.join(" "));
  writeFolderMark(dataDir, markOf("source", "2026-11-21T12:01:00.000Z"));
  assert.match(
    await refusal(exitCodes.conflict, "keys", "list"),
    /was moved to .* at 2026-11-21T12:01:00Z, and what is here is out of date/,
  );
  writeFolderMark(dataDir, markOf("target"));
  assert.match(await refusal(exitCodes.conflict, "keys", "list"), /is not whole: a copy of/);

  assert.match((await start("doctor")).out, /is not whole: a copy of/);

  writeFolderMark(dataDir, null);
  const again = await startService(t, { dataDir, records: null });
  assert.equal((await again.get(path, { "x-api-key": service.key })).status, 200);
});

test("a mark that cannot be read is not taken for none", async (t) => {
  const dataDir = temporaryFolder(t);
  const { text, refusal } = allCommands(dataDir);
  await text("accounts", "create", "--name", "Acme");
  writeFileSync(join(dataDir, "move.json"), '{ "id"');
  assert.match(await refusal(exitCodes.conflict, "accounts", "list"), /move\.json/);
});

test("who opened the accounts before the folder was marked changes nothing after it", async (t) => {
  const dataDir = temporaryFolder(t);
  const control = await openControl(dataDir);
  t.after(() => control.close());
  writeFolderMark(dataDir, markOf("source"));
  await assert.rejects(createAccount(control, { name: "Acme", quotas: {}, now: noon }), MovedAway);
  assert.deepEqual(await control.database.selectFrom("account").selectAll().execute(), []);
});

test("a server whose database is marked refuses requests and signs off, and nothing starts on it", async (t) => {
  if (!hasPostgres(t)) return;
  const url = await freshDatabase(t);
  const settings = { DATABASE_URL: url };
  const service = await startService(t, { records: null, settings });
  const live = () => runSql(url, "select 1 from instance where seen_at > now() - interval '15 s'");
  await eventually(async () => assert.equal((await live()).length, 1));
  await runSql(
    url,
    "insert into move (id, side, other, begun_at) values ('m1', 'source', '/data', '2026-11-21T12:00:00.000Z')",
  );
  await assertRefuses(service);
  await eventually(async () => assert.equal((await live()).length, 0));
  const { refusal, start } = allCommands(temporaryFolder(t), settings);
  for (const args of [["accounts", "list"], ["datasets", "list"], ["serve"]])
    assert.match(await refusal(exitCodes.conflict, ...args), /is being moved to \/data/);
  assert.match((await start("doctor")).out, /is being moved to \/data/);
});
