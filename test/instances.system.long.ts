import { test } from "node:test";
import {
  assertSixtyEachTime,
  assertWholeVersions,
  publishShared,
  type Shared,
  startInstance,
} from "./support/instances.ts";
import { cast } from "./support/cast.ts";
import { freshDatabase, whyNoPostgres } from "./support/postgres.ts";
import { startRedis, whyNoRedis } from "./support/redis.ts";

const skip = whyNoPostgres() ?? whyNoRedis() ?? false;

/** A hundred times, twenty on busy cores, and ten publications: test/instances.long.ts. */
const rounds = 3;
const publications = 3;

test("four servers on one PostgreSQL and one Redis", { skip }, async (t) => {
  const databaseUrl = await freshDatabase(t);
  const redis = await startRedis();
  t.after(() => redis.end());
  const start = async (own: typeof t, shared: Shared) => {
    const instances = await Promise.all(
      [0, 5, 10, 15].map((seconds) =>
        startInstance(own, shared, { aheadMilliseconds: 1000 * seconds }),
      ),
    );
    await own.test("sixty are admitted while every core is busy", (busy) =>
      assertSixtyEachTime(busy, shared, instances, 1, "busy"),
    );
    return instances;
  };
  await publishShared(t, { databaseUrl }, cast);

  await t.test(
    "admit sixty of four hundred requests at once, counted by Redis, though their clocks are five seconds apart",
    async (own) => {
      const shared = { databaseUrl, countersUrl: redis.url };
      await assertSixtyEachTime(own, shared, await start(own, shared), rounds);
    },
  );

  await t.test(
    "admit sixty of four hundred requests at once, counted by PostgreSQL, and show a client that pages over all of them whole versions",
    async (own) => {
      const shared = { databaseUrl };
      const instances = await start(own, shared);
      await assertSixtyEachTime(own, shared, instances, rounds);
      await assertWholeVersions(own, shared, instances, publications);
    },
  );
});
