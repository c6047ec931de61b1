import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, suite, test, type TestContext } from "node:test";
import { counters } from "#doctor/counters.ts";
import { counts } from "#doctor/counts.ts";
import { current } from "#doctor/current.ts";
import { locks } from "#doctor/locks.ts";
import { sharedDatasets } from "#doctor/shared-datasets.ts";
import { ownFormat } from "#datasets/remote.ts";
import { type RedisServer, startRedis, whyNoRedis } from "../support/redis.ts";
import { finding, look } from "../support/doctor.ts";
import { freshDatabase, runSql, whyNoPostgres } from "../support/postgres.ts";
import { buildDatasets, machine } from "../support/shared-datasets.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const skip = whyNoPostgres() ?? false;
const gp = (name: string) => [{ record: "gp", id: name, name }];

test("without DATABASE_URL nothing is said of counters and datasets that are shared", async (t) => {
  const dataDir = temporaryFolder(t);
  assert.deepEqual(await look(sharedDatasets, dataDir), []);
  assert.deepEqual(await look(counters, dataDir), []);
});

suite("doctor on shared datasets", { skip }, () => {
  const published = async (t: TestContext) => {
    const url = await freshDatabase(t);
    const one = machine(t, url);
    const [first, second] = await buildDatasets(t, gp("alpha"), gp("beta"));
    for (const { path, generation } of [first!, second!])
      await one.remote.push(path, generation, "staged");
    const { version } = second!.generation;
    await one.remote.publish(version, null);
    await runSql(
      url,
      "update dataset set published_at = published_at - interval '1 hour' where status = 'published'",
    );
    return {
      url,
      one,
      version,
      older: first!.generation.version,
      given: { settings: { DATABASE_URL: url } },
    };
  };

  test("none, and one that is whole, are named with the database, and who imports", async (t) => {
    const empty = await freshDatabase(t);
    const dataDir = temporaryFolder(t);
    const none = await finding("ok", sharedDatasets, dataDir, {
      settings: { DATABASE_URL: empty },
    });
    assert.match(
      none.found,
      /^none is published on PostgreSQL at .*; servers that run: 0; no import runs$/,
    );
    const { one, version, given } = await published(t);
    const lock = await one.remote.lock();
    const { found } = await finding("ok", sharedDatasets, dataDir, given);
    assert.ok(found.startsWith(`${version} on PostgreSQL at `), found);
    assert.match(
      found,
      /is whole by SHA-256, of 2 there; .*; an import runs: process \d+ on \S+, since \d{4}-/,
    );
    await lock.release();
  });

  test("a stored part that is damaged or missing is named with what mends it, of older datasets with --thorough", async (t) => {
    const { url, version, older, given } = await published(t);
    const dataDir = temporaryFolder(t);
    await runSql(url, "delete from dataset_part where version = $1", [older]);
    await finding("ok", sharedDatasets, dataDir, given);
    const old = await finding("fail", sharedDatasets, dataDir, { ...given, isThorough: true });
    assert.match(
      old.found,
      new RegExp(
        `^Part 1 of 1 of the stored dataset ${older} is missing.* on PostgreSQL at [^;]*$`,
      ),
    );
    await runSql(
      url,
      "update dataset_part set bytes = set_byte(bytes, 99, get_byte(bytes, 99) # 1) where version = $1",
      [version],
    );
    const { found, mend } = await finding("fail", sharedDatasets, dataDir, given);
    assert.match(
      found,
      new RegExp(`${version} is damaged: .* on PostgreSQL at .*; it is the one to be served$`),
    );
    assert.match(mend, /gp-records datasets rollback/);
  });

  test("a server that runs and serves another dataset is named, one that ended is not", async (t) => {
    const { url, one, version, older, given } = await published(t);
    const dataDir = temporaryFolder(t);
    const instance = {
      id: "a",
      host: "web-1",
      pid: 4711,
      startedAt: "2026-11-20T03:00:00Z",
      program: "0.1.0",
      formats: [ownFormat],
    };
    await one.remote.instances.note({ ...instance, served: version });
    assert.match(
      (await finding("ok", sharedDatasets, dataDir, given)).found,
      /servers that run: 1;/,
    );
    await one.remote.instances.note({ ...instance, served: older });
    const { found, mend } = await finding("warn", sharedDatasets, dataDir, given);
    assert.equal(found, `the server on web-1, process 4711, serves ${older} and not ${version}`);
    assert.match(mend, /shared datasets cannot be followed/);
    await runSql(url, "update instance set seen_at = seen_at - interval '1 minute'");
    await finding("ok", sharedDatasets, dataDir, given);
  });

  test("a dataset of another format is named with the one that this program reads", async (t) => {
    const { url, given } = await published(t);
    await runSql(url, "update dataset set format = '9.9'");
    const { found } = await finding("fail", sharedDatasets, temporaryFolder(t), given);
    assert.match(found, /has the format 9\.9, and this version of gp-records reads \d+\.\d+$/);
  });

  test("what is wrong in the folder is said of the cache, and files of counts are not looked at", async (t) => {
    const { given } = await published(t);
    const dataDir = temporaryFolder(t);
    const { cache } = machine(t, given.settings.DATABASE_URL);
    const folder = cache.catalogue.folder.replace(/\/datasets$/, "");
    writeFileSync(join(folder, "datasets", "current"), "20260101T000000Z-00000000\n");
    const { found, mend } = await finding("warn", current, folder, given);
    assert.match(found, /^in the cache: .*names 20260101T000000Z-00000000, which is not there$/);
    assert.match(mend, /^Nothing: .*fetch it anew/);
    assert.deepEqual(await look(counts, dataDir, given), []);
    assert.equal(
      (await finding("ok", locks, dataDir, given)).found,
      "on this folder no server runs",
    );
  });
});

suite("doctor on what counts", { skip: whyNoRedis() ?? skip }, () => {
  let redis: RedisServer;
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis.end());

  const givenOn = async (t: TestContext, url?: string) => {
    const settings = {
      DATABASE_URL: await freshDatabase(t),
      ...(url !== undefined && { COUNTERS_URL: url }),
    };
    return { settings };
  };

  test("either server is named with its version, and what makes it forget counts with how to change that", async (t) => {
    const dataDir = temporaryFolder(t);
    const well = await finding("ok", counters, dataDir, await givenOn(t, redis.url));
    assert.match(
      well.found,
      /^redis:\/\/127\.0\.0\.1:\d+ counts for all instances: (?:Redis|Valkey) \d+\.\d+\.\d+; its clock is within/,
    );
    await redis.ask("CONFIG", "SET", "appendonly", "no");
    const forgets = await finding("warn", counters, dataDir, await givenOn(t, redis.url));
    assert.match(
      forgets.found,
      /, (?:Redis|Valkey) \d\S*, forgets all counts when it is restarted$/,
    );
    assert.match(forgets.mend, /appendonly yes/);
    await redis.ask("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
    const evicts = await finding("fail", counters, dataDir, await givenOn(t, redis.url));
    assert.match(evicts.found, /maxmemory-policy 'allkeys-lru'.*Set 'maxmemory-policy noeviction'/);
    // The servers of tests do not sync.
    const postgres = await finding("warn", counters, dataDir, await givenOn(t));
    assert.match(
      postgres.found,
      /^PostgreSQL at .*, PostgreSQL \d+\.\d+, loses counts when its machine fails$/,
    );
  });

  test("a server that is away, and a clock that is not that of this machine, are named", async (t) => {
    const dataDir = temporaryFolder(t);
    const away = await finding(
      "fail",
      counters,
      dataDir,
      await givenOn(t, "redis://:geheim@127.0.0.1:1"),
    );
    assert.match(away.found, /^redis:\/\/127\.0\.0\.1:1 cannot count: .*ECONNREFUSED/);
    assert.doesNotMatch(away.found, /geheim/);
    redis.pause();
    t.after(() => redis.resume());
    const frozen = await finding("fail", counters, dataDir, await givenOn(t, redis.url));
    assert.match(frozen.found, /^redis:\/\/\S+ cannot count: it does not answer within 2 s$/);
    const given = await givenOn(t);
    const ahead = "select (extract(epoch from clock_timestamp()) * 1e6)::bigint + 7000000";
    await runSql(
      given.settings.DATABASE_URL,
      `create or replace function quota_now() returns bigint language sql volatile as $$ ${ahead} $$`,
    );
    const found = await look(counters, dataDir, given);
    const { mend } = found.find((one) => one.found.endsWith(" is 7.0 s ahead of this one"))!;
    assert.match(mend!, /set-ntp/);
  });
});
