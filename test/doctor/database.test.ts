import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, suite, test, type TestContext } from "node:test";
import { openCatalogue } from "#datasets/catalogue.ts";
import type { Status } from "#doctor/check.ts";
import { datasets } from "#doctor/datasets.ts";
import { counters, database } from "#doctor/settings.ts";
import { controlStore, usageStore } from "#doctor/stores.ts";
import { migratePostgres } from "#store/postgres-schema.ts";
import { postgresSteps } from "#store/postgres-steps.ts";
import { cast } from "../support/cast.ts";
import { importRecords } from "../support/dataset.ts";
import { finding, look } from "../support/doctor.ts";
import { freshDatabase, whyNoPostgres } from "../support/postgres.ts";
import { type RedisServer, startRedis, whyNoRedis } from "../support/redis.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const skip = whyNoPostgres() ?? false;

test("without DATABASE_URL nothing is said of PostgreSQL and shared counters, and with it nothing of the files of keys and usage", async (t) => {
  const dataDir = temporaryFolder(t);
  for (const check of [database, counters]) assert.deepEqual(await look(check, dataDir), []);
  await finding("ok", controlStore, dataDir);
  const settings = { DATABASE_URL: "postgres://u@127.0.0.1:1/records" };
  for (const check of [controlStore, usageStore])
    assert.deepEqual(await look(check, dataDir, { settings }), []);
});

test(
  "a database is named with its version, or with what is missing: steps, a newer program, the server itself",
  { skip },
  async (t) => {
    const dataDir = temporaryFolder(t);
    const DATABASE_URL = await freshDatabase(t, { isMigrated: false });
    const given = { settings: { DATABASE_URL } };
    const behind = await finding("fail", database, dataDir, given);
    assert.match(
      behind.found,
      /^PostgreSQL at .*\/own_\d+ lacks schema migrations \(0001-all, 0002-followed-views, 0003-suppressions, 0004-syncs, 0005-suppressed-gps\).*`gp-records migrate`/,
    );
    await migratePostgres(DATABASE_URL);
    const well = await finding("ok", database, dataDir, given);
    assert.match(well.found, /has the current schema; its server is version \d+\.\d+$/);
    const later = { name: "0009-later", isAdditive: false, sql: "select 1" };
    await migratePostgres(DATABASE_URL, [...postgresSteps, later]);
    assert.match((await finding("fail", database, dataDir, given)).found, /newer.*'0009-later'/);
  },
);

test("counters in a database that is away are refused for that reason, though its own check has failed just before", async (t) => {
  const settings = { DATABASE_URL: "postgres://u@127.0.0.1:1/records" };
  for (const check of [database, counters]) {
    const away = await finding("fail", check, temporaryFolder(t), { settings });
    assert.match(away.found, /ECONNREFUSED/);
  }
});

test("a cache is not judged, and own datasets beside DATABASE_URL are named", async (t) => {
  const dataDir = temporaryFolder(t);
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  await importRecords(catalogue, cast);
  const settings = { DATABASE_URL: "postgres://u@127.0.0.1:1/records" };
  const { found, mend } = await finding("fail", datasets, dataDir, { settings });
  const own = `${catalogue.folder} has datasets of its own, such as ${catalogue.currentVersion()}. `;
  assert.ok(found.startsWith(own), found);
  assert.match(mend, /^Set DATA_DIR to an empty folder\. .*restore FILE --to URL/);
  for (const name of ["current", ".cache"]) writeFileSync(join(catalogue.folder, name), "x");
  assert.deepEqual(await look(datasets, dataDir, { settings }), []);
});

suite("doctor on what counts", { skip: whyNoRedis() ?? skip }, () => {
  let redis: RedisServer;
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis.end());

  const judged = async (t: TestContext, status: Status, COUNTERS_URL = "") => {
    const settings = { DATABASE_URL: await freshDatabase(t), COUNTERS_URL };
    return (await finding(status, counters, temporaryFolder(t), { settings })).found;
  };

  test("either server is named, and one that may evict counts with how to change that", async (t) => {
    for (const url of [redis.url, ""])
      assert.match(
        await judged(t, "ok", url),
        /^(?:redis:\/\/127\.0\.0\.1:\d+|PostgreSQL at \S+) counts for all instances$/,
      );
    await redis.ask("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
    const evicts = await judged(t, "fail", redis.url);
    assert.match(evicts, /maxmemory-policy 'allkeys-lru'.*Set 'maxmemory-policy noeviction'/);
  });

  test("a server that is away, or does not answer, is named", async (t) => {
    const away = await judged(t, "fail", "redis://:geheim@127.0.0.1:1");
    assert.match(away, /^redis:\/\/127\.0\.0\.1:1 cannot count requests: .*ECONNREFUSED/);
    assert.doesNotMatch(away, /geheim/);
    redis.pause();
    t.after(() => redis.resume());
    assert.match(
      await judged(t, "fail", redis.url),
      /^redis:\/\/\S+ cannot count requests: it did not answer within 2000 ms$/,
    );
  });
});
