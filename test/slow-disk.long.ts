import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { createAccount } from "#accounts/accounts.ts";
import { makeKey } from "#keys/api-key.ts";
import { issueKey, revokeKey } from "#keys/keys.ts";
import type { Engine } from "#limits/shared-counters.ts";
import { quotaMax } from "#limits/policy.ts";
import { openControl } from "#store/stores.ts";
import { endWithUs } from "../bench/clean-up.ts";
import { ask, othersThan200, stream } from "../bench/ask.ts";
import { cast } from "./support/cast.ts";
import { eventually } from "./support/eventually.ts";
import { hasTool } from "./support/machine.ts";
import {
  type Instance,
  newSharedKey,
  publishShared,
  startInstance,
  untilShared,
} from "./support/instances.ts";
import { roomy } from "./support/own-process.ts";
import { makeRecords, startPostgres, whyNoPostgres } from "./support/postgres.ts";
import { type RedisServer, startRedis, whyNoRedis } from "./support/redis.ts";

/** Marks the test as skipped where something of this is missing. */
function canSlowDown(t: TestContext): boolean {
  const isRoot = process.getuid?.() === 0;
  const why =
    whyNoPostgres() ??
    whyNoRedis() ??
    (isRoot ? null : "skipped: only root slows down the writes of others");
  if (why !== null) t.skip(why);
  return why === null && hasTool(t, "strace");
}

const path = "/fetch-gp?gp_name=northwind";
const minuteQuota = 60;
const slowSeconds = 3;
/** What is promised is 2 s; a busy machine may be late by as much. */
const patienceMilliseconds = 4000;

interface Slow {
  pids: readonly number[];
  /** The system calls that take longer. */
  calls: string;
  seconds: number;
  /** Only on this one. */
  file?: string;
}

/** Makes calls of processes, and of those they start, take longer while `act` runs, and whatever becomes of it no longer than that. */
async function whileSlow<R>(
  { pids, calls, seconds, file }: Slow,
  act: () => Promise<R>,
): Promise<R> {
  const inject = ["-e", `trace=${calls}`, "-e", `inject=${calls}:delay_enter=${1e6 * seconds}`];
  const ofFile = file === undefined ? [] : ["-P", file];
  const traced = pids.flatMap((pid) => ["-p", String(pid)]);
  const tracer = endWithUs(
    spawn("strace", ["-f", "-qq", "-o", "/dev/null", ...inject, ...ofFile, ...traced], {
      stdio: ["ignore", "ignore", "inherit"],
    }),
  );
  const ended = once(tracer, "exit");
  try {
    await eventually(() => {
      for (const pid of pids) assert.ok(isTraced(pid, tracer.pid!), String(pid));
    });
    return await act();
  } finally {
    // It lets go of them.
    tracer.kill("SIGINT");
    await ended;
  }
}

/** True also of a process that has ended, as one of a connection may have. */
function isTraced(pid: number, tracer: number): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return new RegExp(`^(?:State:\tZ|TracerPid:\t${tracer}$)`, "m").test(status);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return true;
  }
}

async function admitted(instances: readonly Instance[], key: string): Promise<number> {
  const asked = Array.from({ length: 2 * (minuteQuota + 20) }, (_, i) =>
    ask({ port: instances[i % instances.length]!.port, path, key }),
  );
  return (await Promise.all(asked)).filter(({ status }) => status === 200).length;
}

/** Requests go on without pause beside what is done to the disk. */
async function answeredBeside(
  t: TestContext,
  instances: readonly Instance[],
  key: string,
  act: (answered: () => number) => Promise<unknown>,
): Promise<void> {
  const streams = instances.map(({ port }) => stream({ port, path, key }, 50));
  const answered = () => streams.reduce((sum, { books }) => sum + books.milliseconds.length, 0);
  // Ended in any case, or nothing else could end.
  const end = () => Promise.all(streams.map((one) => one.end()));
  const books = await act(answered).then(end, async (error: unknown) => {
    await end();
    throw error;
  });
  for (const one of books) assert.equal(othersThan200(one), "");
  const milliseconds = books.flatMap((one) => one.milliseconds);
  t.diagnostic(
    `${milliseconds.length} × 200, the slowest after ${Math.round(Math.max(...milliseconds))} ms`,
  );
}

test("while each flush of PostgreSQL's disk takes seconds every known key is answered and counted, and what was changed holds afterwards", async (t) => {
  if (!canSlowDown(t)) return;
  const postgres = await startPostgres({ fsync: "on", synchronous_commit: "on" });
  t.after(() => postgres.stop());
  const databaseUrl = await makeRecords(postgres);
  await publishShared(t, { databaseUrl }, cast);
  const shared = { databaseUrl };
  const instances = [await startInstance(t, shared), await startInstance(t, shared)];
  const control = await openControl("/nowhere", { databaseUrl });
  t.after(() => control.close());
  const now = Date.now();
  const account = await createAccount(control, { name: "own", quotas: roomy, now });
  const order = { account, name: "to be revoked", expiresAt: null, now };
  const { id, key: revoked } = await issueKey(control, order);
  const key = await newSharedKey(shared, roomy);
  const counted = await newSharedKey(shared, { minute: minuteQuota });
  for (const { port } of instances)
    for (const known of [key, revoked])
      assert.equal((await ask({ port, path, key: known })).status, 200);

  const data = decodeURIComponent(new URL(postgres.url).hostname);
  const [first] = readFileSync(join(data, "postmaster.pid"), "utf8").split("\n").map(Number);
  const children = readFileSync(`/proc/${first}/task/${first}/children`, "utf8");
  const pids = [first!, ...children.split(" ").filter(Boolean).map(Number)];
  let all = 0;
  const slow = { pids, calls: "fsync,fdatasync", seconds: slowSeconds };
  const beside = async () => {
    const refusal = await ask({ port: instances[0]!.port, path, key: makeKey() });
    assert.ok(refusal.status === 401 || refusal.status === 503, `${refusal.status}`);
    assert.ok(refusal.milliseconds < patienceMilliseconds);
    all = await admitted(instances, counted);
    const startedAt = performance.now();
    const said = await revokeKey(control, id, Date.now()).then(
      () => "revoked",
      (error: Error) => error.message,
    );
    t.diagnostic(`revoking: '${said}' after ${Math.round(performance.now() - startedAt)} ms`);
    await eventually(async () => {
      for (const { port } of instances)
        assert.equal((await ask({ port, path, key: revoked })).status, 401);
    }, 20_000);
    t.diagnostic(`refused after ${Math.round(performance.now() - startedAt)} ms`);
  };
  await answeredBeside(t, instances, key, () => whileSlow(slow, beside));
  assert.ok(all >= minuteQuota && all <= instances.length * minuteQuota, `${all}`);
  await Promise.all(instances.map(untilShared));
  assert.equal(await admitted(instances, counted), 0);
  t.diagnostic(`${all} of ${instances.length} × ${minuteQuota} admitted`);
});

/** Its process, and the file that it writes counts to. */
async function placeOf({ ask: askRedis }: RedisServer): Promise<Pick<Slow, "pids" | "file">> {
  const [, pid] = /^process_id:(\d+)/m.exec(String(await askRedis("INFO", "server")))!;
  const [, folder] = (await askRedis("CONFIG", "GET", "dir")) as [string, string];
  return { pids: [Number(pid)], file: join(folder, "appendonlydir/appendonly.aof.1.incr.aof") };
}

test("while each write of Redis' disk takes half a second every request is answered, and no more is admitted than the quota of each server", async (t) => {
  if (!canSlowDown(t)) return;
  const postgres = await startPostgres();
  t.after(() => postgres.stop());
  const databaseUrl = await makeRecords(postgres);
  await publishShared(t, { databaseUrl }, cast);
  const redis = await startRedis();
  t.after(() => redis.end());
  const shared = { databaseUrl, countersUrl: redis.url };
  const instances = [await startInstance(t, shared), await startInstance(t, shared)];
  const key = await newSharedKey(shared, roomy);
  const counted = await newSharedKey(shared, { minute: minuteQuota });
  for (const { port } of instances) assert.equal((await ask({ port, path, key })).status, 200);
  const slow = { ...(await placeOf(redis)), calls: "write,fdatasync", seconds: 0.5 };
  let all = 0;
  const beside = async (answered: () => number) => {
    await eventually(async () => assert.equal(await instances[0]!.countersMode(), "local"));
    all = await admitted(instances, counted);
    await eventually(() => assert.ok(answered() > 500), 60_000);
    all += await admitted(instances, counted);
  };
  await answeredBeside(t, instances, key, (answered) => whileSlow(slow, () => beside(answered)));
  assert.ok(all >= minuteQuota && all <= instances.length * minuteQuota, `${all}`);
  await Promise.all(instances.map(untilShared));
  assert.equal(await admitted(instances, counted), 0);
  t.diagnostic(`${all} of ${instances.length} × ${minuteQuota} admitted`);
});

const killings = 10;
/** Requests that are asked for together, as in one turn of an instance. */
const together = 3;
/** More than all clients count until the kill: what is refused cannot be forgotten. */
const unbounded = { minute: quotaMax, hour: quotaMax, day: quotaMax };

/**
 * Kills a Redis with -9 under clients that each have an answer before they ask again.
 * @param flush its `appendfsync`.
 * @param seconds that its disk takes for each flush.
 * @returns how many of the requests that it said it had counted it has forgotten, for each kill.
 */
async function forgotten(
  t: TestContext,
  redis: RedisServer,
  flush: string,
  seconds: number,
): Promise<number[]> {
  const lost: number[] = [];
  for (let account = 1; account <= killings; account++) {
    await redis.ask("FLUSHALL");
    await redis.ask("CONFIG", "SET", "appendfsync", flush);
    const decide = async (requests: number, engine: Engine) =>
      (await engine.decide([{ account, quotas: unbounded, requests }]))[0]!;
    const engine = await redis.openEngine();
    await engine.connect(() => {});
    const slow = { ...(await placeOf(redis)), calls: "fdatasync", seconds };
    let acknowledged = 0;
    const client = async () => {
      for (;;) {
        const decision = await decide(together, engine).catch(() => null);
        if (decision === null) return;
        acknowledged += decision[0]!;
      }
    };
    await whileSlow(slow, async () => {
      const clients = Array.from({ length: 8 }, client);
      // Not always at the same moment of a flush.
      await wait(2000 + 70 * account);
      await redis.end();
      await Promise.all(clients);
    });
    engine.disconnect();
    await redis.start();
    const again = await redis.openEngine();
    await again.connect(() => {});
    const countedInDay = (await decide(0, again))[7]!;
    again.disconnect();
    assert.ok(acknowledged > 0);
    lost.push(Math.max(0, acknowledged - countedInDay));
    t.diagnostic(`${flush}: ${acknowledged} acknowledged, ${lost.at(-1)} of them forgotten`);
  }
  return lost;
}

test("kill -9 makes Redis forget no count that it acknowledged where it flushes always; with everysec it forgets those of a flush", async (t) => {
  if (!canSlowDown(t)) return;
  const redis = await startRedis();
  t.after(() => redis.end());
  assert.deepEqual(new Set(await forgotten(t, redis, "always", 0.1)), new Set([0]));
  // Else this would not have seen a loss.
  assert.ok((await forgotten(t, redis, "everysec", 0.8)).some((count) => count > 0));
});
