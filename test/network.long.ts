import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { createAccount } from "#accounts/accounts.ts";
import { makeKey } from "#keys/api-key.ts";
import { issueKey, revokeKey } from "#keys/keys.ts";
import { openControl } from "#store/stores.ts";
import { unprivilegedUser } from "../bench/postgres.ts";
import { spawnRedis } from "../bench/redis.ts";
import { ask } from "../bench/ask.ts";
import { cast } from "./support/cast.ts";
import { eventually } from "./support/eventually.ts";
import { type Instance, newSharedKey, publishShared, startInstance } from "./support/instances.ts";
import { openNetwork, whyNoNetwork } from "./support/network.ts";
import { roomy } from "./support/own-process.ts";
import { makeRecords, runSql, startPostgres, whyNoPostgres } from "./support/postgres.ts";
import { whyNoRedis } from "./support/redis.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

const skip = whyNoPostgres() ?? whyNoRedis() ?? whyNoNetwork() ?? false;

const path = "/fetch-gp?gp_name=northwind";
const redisPort = 6379;
const minuteQuota = 60;
/** What is promised is 2 s and 5 s; a busy machine may be late by as much. */
const patienceMilliseconds = 4000;
const backMilliseconds = 10_000;

/** PostgreSQL and Redis on one machine, and a server on each of two others. */
async function openWorld(t: TestContext) {
  const network = await openNetwork(t);
  const user = unprivilegedUser()!;
  const asUser = ["setpriv", `--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups"];
  const postgres = await startPostgres({ listen_addresses: "*" }, [...network.under, ...asUser]);
  t.after(() => postgres.stop());
  // Its socket is a file, which does not care for the network.
  const databaseUrl = await makeRecords(postgres);
  const data = decodeURIComponent(new URL(postgres.url).hostname);
  appendFileSync(join(data, "pg_hba.conf"), "host all all 10.213.0.0/16 trust\n");
  await runSql(postgres.url, "select pg_reload_conf()");
  const redis = await spawnRedis({
    port: redisPort,
    folder: temporaryFolder(t),
    args: ["--bind", "0.0.0.0", "--protected-mode", "no"],
    under: network.under,
  });
  t.after(() => void redis.kill("SIGKILL"));
  await publishShared(t, { databaseUrl }, cast);
  const start = async () => {
    const machine = network.join();
    const shared = {
      databaseUrl: `postgres://postgres@${machine.serverAddress}/records`,
      countersUrl: `redis://${machine.serverAddress}:${redisPort}`,
    };
    return { machine, instance: await startInstance(t, shared, { under: machine.under }) };
  };
  return { databaseUrl, cutOff: await start(), other: (await start()).instance };
}

const statusOf = async ({ port }: Instance, key: string) => (await ask({ port, path, key })).status;

const pageOf = async ({ port }: Instance) =>
  (await ask({ port, path: "/account/keys", headers: { cookie: `gp_session=${"a".repeat(43)}` } }))
    .status;

/** How many of so many requests at once are admitted. */
async function admitted(instance: Instance, key: string, requests: number): Promise<number> {
  const asked = Array.from({ length: requests }, () => statusOf(instance, key));
  const statuses = await Promise.all(asked);
  assert.ok(statuses.every((status) => status === 200 || status === 429));
  return statuses.filter((status) => status === 200).length;
}

const served = async ({ get }: Instance, key: string) =>
  (await get(path, { "x-api-key": key })).body.meta.dataset_version as string;

test("a server that is cut off from the network", { skip }, async (t) => {
  const { databaseUrl, cutOff, other } = await openWorld(t);
  const { machine, instance } = cutOff;
  const control = await openControl("/nowhere", { databaseUrl });
  t.after(() => control.close());
  await eventually(async () => assert.equal(await pageOf(instance), 401), backMilliseconds);

  for (const [name, cut, mend] of [
    ["whose cable is pulled", machine.unplug, machine.plugIn],
    ["whose packets vanish", machine.drop, machine.passAgain],
  ] as const)
    await t.test(
      `${name} answers known keys from what it has, refuses the rest in time, admits its own limit at most, and is right again in time`,
      async (own) => {
        const key = await newSharedKey({ databaseUrl }, roomy);
        const counted = await newSharedKey({ databaseUrl }, { minute: minuteQuota });
        const now = Date.now();
        const account = await createAccount(control, { name, quotas: roomy, now });
        const order = { account, name: "to be revoked", expiresAt: null, now };
        const { id, key: revoked } = await issueKey(control, order);
        for (const one of [instance, other])
          for (const known of [key, revoked]) assert.equal(await statusOf(one, known), 200);
        let all = (await admitted(instance, counted, 5)) + (await admitted(other, counted, 5));
        assert.equal(all, 10);
        const before = await served(instance, key);

        cut();
        const first = await ask({ port: instance.port, path, key });
        assert.equal(first.status, 200);
        await eventually(async () => assert.equal(await instance.countersMode(), "local"));
        all += await admitted(instance, counted, 80);
        all += await admitted(other, counted, 80);
        assert.ok(all > minuteQuota && all <= 2 * minuteQuota, `${all}`);
        const refusal = await ask({ port: instance.port, path, key: makeKey() });
        assert.equal(refusal.status, 503);
        assert.equal(JSON.parse(refusal.body).reason, "store_down");
        assert.match(String(refusal.headers["retry-after"]), /^[1-5]$/);
        assert.ok(refusal.milliseconds < patienceMilliseconds, `${refusal.milliseconds}`);
        assert.deepEqual([await pageOf(instance), await pageOf(other)], [503, 401]);
        const added = { record: "gp", id: name, name };
        const next = await publishShared(own, { databaseUrl }, [...cast, added]);
        await eventually(
          async () => assert.equal(await served(other, key), next),
          backMilliseconds,
        );
        await revokeKey(control, id, Date.now());
        const { milliseconds: toOther } = await eventually(
          async () => assert.equal(await statusOf(other, revoked), 401),
          backMilliseconds,
        );
        // It cannot know.
        assert.equal(await statusOf(instance, revoked), 200);
        assert.equal(await served(instance, key), before);
        assert.equal((await instance.get("/ready")).status, 200);

        const mended = performance.now();
        mend();
        const since = () => Math.round(performance.now() - mended);
        const back = async (what: string, check: () => Promise<void>) => {
          await eventually(check, backMilliseconds);
          return `${what} after ${since()} ms`;
        };
        const told = await Promise.all([
          back("counts shared", async () => assert.equal(await instance.countersMode(), "shared")),
          back("revoked key refused", async () =>
            assert.equal(await statusOf(instance, revoked), 401),
          ),
          back("unknown key refused", async () =>
            assert.equal(await statusOf(instance, makeKey()), 401),
          ),
          back("page", async () => assert.equal(await pageOf(instance), 401)),
          back("dataset", async () => assert.equal(await served(instance, key), next)),
        ]);
        assert.equal(await admitted(instance, counted, 20), 0);
        assert.equal(await admitted(other, counted, 20), 0);
        own.diagnostic(
          `first answer ${Math.round(first.milliseconds)} ms; 503 after ${Math.round(refusal.milliseconds)} ms; ${all} of 2 × ${minuteQuota} admitted; revoked elsewhere after ${Math.round(toOther)} ms; then ${told.join(", ")}`,
        );
      },
    );
});
