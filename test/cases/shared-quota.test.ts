import assert from "node:assert/strict";
import { suite, test, type TestContext } from "node:test";
import { cast } from "../support/cast.ts";
import { eventually } from "../support/eventually.ts";
import { openFarAway } from "../support/far-away.ts";
import { freshDatabase, whyNoPostgres } from "../support/postgres.ts";
import { importShared } from "../support/shared-datasets.ts";
import { readExposition } from "../support/read-exposition.ts";
import { type RedisServer, startRedis, whyNoRedis } from "../support/redis.ts";
import { startService, type TestService } from "../support/service.ts";

const path = "/fetch-gp?gp_name=northwind";

async function redisOf(t: TestContext, args: readonly string[] = []): Promise<RedisServer> {
  const server = await startRedis(args);
  t.after(() => server.end());
  return server;
}

/** Starts instances on one database and these counters, each with a folder of its own. */
async function instancesOn(t: TestContext, url: string) {
  const database = await freshDatabase(t);
  await importShared(t, database, cast);
  return (settings: Record<string, string> = {}) =>
    startInstance(t, { DATABASE_URL: database, COUNTERS_URL: url, ...settings });
}

async function startInstance(t: TestContext, given: Record<string, string>) {
  const settings = { ADMIN_ADDRESS: "127.0.0.1:0", ...given };
  const service = await startService(t, { records: null, settings, hasOutages: true });
  // Until it has fetched the dataset.
  await eventually(async () =>
    assert.equal((await service.get("/ready", { "x-api-key": "" })).status, 200),
  );
  const metric = async (sample: string) => {
    const text = await (await fetch(`${service.adminAddress}/metrics`)).text();
    return readExposition(text).get(sample.replace(/\{.*/, ""))!.samples.get(sample);
  };
  const isMode = async (mode: string) =>
    (await metric(`gp_records_counters_mode{mode="${mode}"}`)) === 1;
  return {
    ...service,
    metric,
    isMode,
    becomes: (mode: string) => eventually(async () => assert.ok(await isMode(mode)), 60_000),
    /** What the log says of the counters, in order. */
    changes: () =>
      service.log.flatMap((line) => {
        const { msg } = JSON.parse(line) as { msg: string };
        return msg.endsWith("counts are not shared") ? [msg] : [];
      }),
  };
}

/** How many of so many requests at once are answered. */
async function answered({ get }: Pick<TestService, "get">, key: string, requests: number) {
  const asked = Array.from({ length: requests }, () => get(path, { "x-api-key": key }));
  return (await Promise.all(asked)).filter(({ status }) => status === 200).length;
}

const skip = whyNoRedis() ?? whyNoPostgres() ?? false;

suite("quotas that several instances share", { skip }, () => {
  test("C52 · while the counters are stopped, paused or slow no request fails, log and metrics say so once, and then they are shared again", async (t) => {
    const redis = await redisOf(t);
    const way = await openFarAway(t, redis.port);
    const instance = await (await instancesOn(t, `redis://127.0.0.1:${way.port}`))();
    t.after(() => redis.resume());
    const faults = [
      { begin: redis.end, end: redis.start },
      { begin: async () => redis.pause(), end: async () => redis.resume() },
      { begin: async () => way.delay(2000), end: async () => way.delay(0) },
    ];
    await instance.becomes("shared");
    const before = instance.changes().length;
    for (const { begin, end } of faults) {
      const { key } = await instance.newKey({ quotas: { minute: 100_000, hour: 100_000 } });
      await begin();
      while (!(await instance.isMode("local"))) assert.equal(await answered(instance, key, 5), 5);
      assert.equal(await instance.metric('gp_records_failing{part="counts"}'), 1);
      assert.equal(await answered(instance, key, 50), 50);
      await end();
      await instance.becomes("shared");
      assert.equal(await instance.metric('gp_records_failing{part="counts"}'), 0);
      assert.equal(await answered(instance, key, 5), 5);
    }
    await instance.becomes("shared");
    const changes = instance.changes().slice(before);
    assert.ok(changes.length >= 6, `${changes.length}`);
    for (const [i, change] of changes.entries())
      assert.equal(change, `${i % 2 === 0 ? "" : "resolved: "}counts are not shared`);
  });

  test("C52 · with COUNTERS_OUTAGE=deny a request is a 503 store_down while they are away", async (t) => {
    const redis = await redisOf(t);
    const start = await instancesOn(t, redis.url);
    const { get, becomes } = await start({ COUNTERS_OUTAGE: "deny" });
    await becomes("shared");
    await redis.end();
    await becomes("deny");
    const { status, headers, body } = await get(path);
    assert.deepEqual([status, body.code, body.reason], [503, "unavailable", "store_down"]);
    assert.deepEqual([headers.get("retry-after"), headers.get("ratelimit")], ["1", null]);
    await redis.start();
    await becomes("shared");
    assert.equal((await get(path)).status, 200);
  });

  for (const { keeps, args } of [
    { keeps: true, args: [] },
    { keeps: false, args: ["--appendonly", "no"] },
  ])
    test(`every instance tells of counts that are lost by FLUSHALL, ${keeps ? "but of no" : "or by a"} restart`, async (t) => {
      const redis = await redisOf(t, args);
      const start = await instancesOn(t, redis.url);
      const instances = [await start(), await start()];
      const { key } = await instances[0]!.newKey({ quotas: { minute: 100_000, hour: 100_000 } });
      const assertTold = async (times: number) => {
        for (const { get, becomes, metric, log } of instances) {
          await becomes("shared");
          await eventually(async () => {
            assert.equal((await get(path, { "x-api-key": key })).status, 200);
            assert.equal(await metric("gp_records_counters_emptied_total"), times);
          });
          const told = log.filter((line) => line.includes("lost its counts"));
          assert.equal(told.length, times);
        }
      };
      await assertTold(0);
      await redis.ask("FLUSHALL");
      await assertTold(1);
      await redis.end();
      for (const { becomes } of instances) await becomes("local");
      await redis.start();
      await assertTold(keeps ? 1 : 2);
    });
});
