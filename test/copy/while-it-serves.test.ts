import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { createAccount } from "#accounts/accounts.ts";
import { exitCodes } from "#cli/command-fault.ts";
import { issueKey, revokeKey } from "#keys/keys.ts";
import { MovedAway } from "#store/move-mark.ts";
import { openControl } from "#store/stores.ts";
import { allCommands } from "../support/all-commands.ts";
import { cast } from "../support/cast.ts";
import { mainPath, outcomeOf } from "../support/command-line.ts";
import { startRedis, whyNoRedis } from "../support/redis.ts";
import { eventually } from "../support/eventually.ts";
import { freshDatabase, hasPostgres } from "../support/postgres.ts";
import { type RunningServer, startServer } from "../support/server-process.ts";
import type { TestService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { openUser, signedIn, testPassword } from "../support/user.ts";
import { datasetsIn, fillInstallation, tablesIn } from "./installation.ts";

const path = "/fetch-gp?gp_name=northwind";

/** An hour of 60, so that no test depends on how long a minute is. */
const quotas = { minute: 10_000, hour: 60, day: 10_000 };

type Settings = Record<string, string>;

/** Runs the command as an operator does, in a process of its own. */
const copyFrom = async (dataDir: string, settings: Settings) => {
  const environment = { PATH: process.env["PATH"], DATA_DIR: dataDir, ...settings };
  const ended = await outcomeOf(process.execPath, [mainPath, "copy", "--json"], environment);
  assert.equal(ended.exitCode, exitCodes.done, ended.err);
  return JSON.parse(ended.out);
};

async function newInstallation(t: TestContext, settings: Settings = {}) {
  const dataDir = join(temporaryFolder(t), "here");
  const source = join(temporaryFolder(t), "cast.ndjson");
  writeFileSync(source, cast.map((record) => `${JSON.stringify(record)}\n`).join(""));
  await allCommands(dataDir, settings).json("import", "ndjson", source, "--source", "own");
  const control = await openControl(dataDir);
  t.after(() => control.close());
  const now = Date.now();
  const account = await createAccount(control, { name: "Acme", quotas, now });
  const { key } = await issueKey(control, { account, name: "k", expiresAt: null, now });
  const old = await issueKey(control, { account, name: "old", expiresAt: null, now });
  await revokeKey(control, old.id, now);
  return { dataDir, control, key, revoked: old.key };
}

const isServed = (server: RunningServer) =>
  eventually(async () => assert.equal((await server.get("/ready")).status, 200));

/** How many of this many requests are answered; the others are over the quota. */
async function admitted(server: RunningServer, key: string, count: number): Promise<number> {
  let answered = 0;
  for (let i = 0; i < count; i++) {
    const { status } = await server.get(path, { "x-api-key": key });
    assert.ok(status === 200 || status === 429, String(status));
    if (status === 200) answered++;
  }
  return answered;
}

/**
 * What is left of the sixty of a minute: forty were counted by a process alone, so many by a server that counts for several.
 * Where the machine was too busy for its answer within 50 ms, some of these are counted twice, or not yet.
 */
function leftAfter(counted: number, shared: number): number {
  assert.ok(counted >= 40 && counted <= Math.min(60, 40 + 2 * shared), String(counted));
  return 60 - counted;
}

async function assertRefuses(server: RunningServer): Promise<void> {
  const { status, body } = await server.get(path, { "x-api-key": "" });
  assert.deepEqual([status, body.reason], [503, "draining"]);
}

test("accounts, keys, people and quotas move into a database and back while they are served", async (t) => {
  if (!hasPostgres(t)) return;
  const { dataDir, control, key, revoked } = await newInstallation(t);
  const first = await startServer(t, { dataDir });
  const place = { dataDir, databaseUrl: null };
  const asService = {
    ...first,
    dataDir,
    place,
    clock: { now: Date.now },
  } as unknown as TestService;
  const ada = await signedIn(asService, { email: "ada@example.org" });
  assert.equal(await admitted(first, key, 40), 40);

  // Somebody makes accounts all the while; each one that was made has to arrive.
  const made: string[] = [];
  const making = (async () => {
    for (;;) {
      const name = `made ${made.length}`;
      await createAccount(control, { name, quotas: {}, now: Date.now() });
      made.push(name);
      assert.equal((await first.get("/health")).status, 200);
    }
  })();
  const stopped = assert.rejects(making, MovedAway);
  const database = await freshDatabase(t);
  const there = await copyFrom(dataDir, { COPY_TO: database });
  await stopped;
  const { outcome, counted_requests, logged_requests } = there;
  assert.deepEqual([outcome, counted_requests, logged_requests], ["moved", 40, 40]);
  await assertRefuses(first);

  const settings = { DATABASE_URL: database };
  const second = await startServer(t, { dataDir: temporaryFolder(t), settings });
  await isServed(second);
  const names = (await allCommands(temporaryFolder(t), settings).json("accounts", "list")).map(
    ({ name }: { name: string }) => name,
  );
  for (const name of made) assert.ok(names.includes(name), name);
  assert.equal((await second.get(path, { "x-api-key": revoked })).body.code, "api-key-revoked");
  const user = openUser(second);
  for (const [name, value] of ada.cookies) user.cookies.set(name, value);
  assert.equal((await user.get("/account/keys")).status, 200);
  const again = openUser(second);
  const form = { email: "ada@example.org", password: testPassword };
  assert.equal((await again.post("/account/sign-in", form)).status, 303);
  assert.equal(await admitted(second, key, 12), 12);

  const back = join(temporaryFolder(t), "back");
  const returned = await copyFrom(temporaryFolder(t), { ...settings, COPY_TO: back });
  assert.equal(returned.logged_requests, 52);
  await assertRefuses(second);
  const third = await startServer(t, { dataDir: back });
  assert.equal(await admitted(third, key, 20), leftAfter(returned.counted_requests, 12));
});

test("counts move to another server that counts, and from it into a folder", async (t) => {
  if (!hasPostgres(t)) return;
  const skip = whyNoRedis();
  if (skip !== null) return t.skip(skip);
  const redis = await startRedis();
  t.after(() => redis.end());
  const { dataDir, key } = await newInstallation(t);
  const first = await startServer(t, { dataDir });
  assert.equal(await admitted(first, key, 40), 40);
  const database = await freshDatabase(t);
  const settings = { DATABASE_URL: database, COUNTERS_URL: redis.url };
  const there = await copyFrom(dataDir, { COPY_TO: database, COPY_COUNTERS_TO: redis.url });
  assert.equal(there.counted_requests, 40);
  const second = await startServer(t, { dataDir: temporaryFolder(t), settings });
  await isServed(second);
  assert.equal(await admitted(second, key, 12), 12);
  // The same server counts on: nothing has to be moved.
  const other = await freshDatabase(t);
  const cache = temporaryFolder(t);
  const moved = await copyFrom(cache, { ...settings, COPY_TO: other, COPY_COUNTERS_TO: redis.url });
  assert.equal(moved.counted_requests, null);
  const third = await startServer(t, {
    dataDir: temporaryFolder(t),
    settings: { ...settings, DATABASE_URL: other },
  });
  await isServed(third);
  assert.equal(await admitted(third, key, 3), 3);
  const back = join(temporaryFolder(t), "back");
  const returned = await copyFrom(cache, { ...settings, DATABASE_URL: other, COPY_TO: back });
  const fourth = await startServer(t, { dataDir: back });
  assert.equal(await admitted(fourth, key, 20), leftAfter(returned.counted_requests, 15));
});

test("a server that is to count but does not is found while everybody is served, and the move can be made later", async (t) => {
  if (!hasPostgres(t)) return;
  const skip = whyNoRedis();
  if (skip !== null) return t.skip(skip);
  const redis = await startRedis(["--requirepass", "horse"]);
  t.after(() => redis.end());
  const { dataDir, key } = await newInstallation(t);
  const first = await startServer(t, { dataDir });
  const database = await freshDatabase(t);
  const environment = { PATH: process.env["PATH"], DATA_DIR: dataDir, COPY_TO: database };
  for (const [url, exitCode, sentence] of [
    ["redis://:geheim@127.0.0.1:1", exitCodes.busy, /fails: nothing listens there \(connect/],
    [
      `redis://:geheim@127.0.0.1:${redis.port}`,
      exitCodes.usage,
      /refuses user or password of COPY_COUNTERS_TO: WRONGPASS/,
    ],
  ] as const) {
    const given = { ...environment, COPY_COUNTERS_TO: url };
    const ended = await outcomeOf(process.execPath, [mainPath, "copy"], given);
    assert.equal(ended.exitCode, exitCode);
    assert.match(ended.err, /^error: Counts: redis:\/\/127\.0\.0\.1:\d+ [^\n]+\n$/);
    assert.match(ended.err, sentence);
    assert.doesNotMatch(ended.err, /geheim/);
    assert.equal(await admitted(first, key, 3), 3);
  }
  const moved = await copyFrom(dataDir, { COPY_TO: database, COPY_COUNTERS_TO: redis.url });
  assert.equal(moved.counted_requests, 6);
});

/** Ends the command with SIGKILL as soon as it says that it begins this step. */
async function killedAt(step: string, dataDir: string, settings: Settings): Promise<void> {
  const env = { PATH: process.env["PATH"], DATA_DIR: dataDir, ...settings };
  const child = spawn(process.execPath, [mainPath, "copy"], {
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let err = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    err += text;
    if (err.includes(`copying: ${step}`)) child.kill("SIGKILL");
  });
  const signal = await new Promise((resolve) =>
    child.once("close", (_code, name) => resolve(name)),
  );
  assert.equal(signal, "SIGKILL", err);
}

const before = ["datasets", "dataset 2026", "accounts, keys and people", "stopping"];
const after = ["what changed meanwhile", "counts", "comparing both sides"];

for (const kind of ["a database", "a folder"] as const)
  test(`a copy into ${kind} that is killed loses nothing, and is finished by the next one`, async (t) => {
    if (!hasPostgres(t)) return;
    const filledAt = async () => {
      const dataDir = join(temporaryFolder(t), "here");
      await fillInstallation(dataDir);
      return dataDir;
    };
    const dataDir = await filledAt();
    const target = kind === "a folder" ? join(temporaryFolder(t), "there") : await freshDatabase(t);
    const settings = { COPY_TO: target };
    const here = allCommands(dataDir, settings);
    const place: Settings = kind === "a folder" ? { DATA_DIR: target } : { DATABASE_URL: target };
    const there = allCommands(temporaryFolder(t), place);
    for (const step of before) {
      await killedAt(step, dataDir, settings);
      // At the last of these steps it may have come to the mark.
      if (step === "stopping") await here.start("copy", "--undo");
      await here.text("accounts", "create", "--name", `after ${step}`);
      assert.match(await there.refusal(exitCodes.conflict, "accounts", "list"), /is not whole/);
    }
    await killedAt(after[0]!, dataDir, settings);
    assert.match(await here.refusal(exitCodes.conflict, "accounts", "list"), /is being moved to/);
    await here.text("copy", "--undo");
    await here.text("accounts", "create", "--name", "after all");
    for (const step of after) {
      await killedAt(step, dataDir, settings);
      assert.match(await here.refusal(exitCodes.conflict, "accounts", "list"), /is being moved to/);
      assert.match(await there.refusal(exitCodes.conflict, "accounts", "list"), /is not whole/);
    }
    const elsewhere = allCommands(dataDir, { COPY_TO: join(temporaryFolder(t), "elsewhere") });
    assert.match(await elsewhere.refusal(exitCodes.conflict, "copy"), /is being moved to/);
    await here.text("copy");
    const listed = await there.json("accounts", "list");
    assert.equal(listed.filter(({ name }: { name: string }) => name.startsWith("after")).length, 5);
    assert.match(await here.refusal(exitCodes.conflict, "copy"), /was moved to/);
    assert.match(
      await here.refusal(exitCodes.conflict, "copy", "--undo"),
      /With --force it serves/,
    );
    await here.text("copy", "--undo", "--force");
    assert.equal((await here.json("accounts", "list")).length, listed.length);
    if (kind === "a folder") {
      const left = ["key_change"];
      const tables = (folder: string) => tablesIn(join(folder, "control.sqlite"), left);
      assert.deepEqual(tables(target)["api_key"], tables(dataDir)["api_key"]);
      assert.deepEqual(datasetsIn(target), datasetsIn(dataDir));
    }
  });
