import { test } from "node:test";
import { cast } from "./support/cast.ts";
import {
  assertSixtyEachTime,
  assertWholeVersions,
  publishShared,
  startInstance,
} from "./support/instances.ts";
import { freshDatabase, whyNoPostgres } from "./support/postgres.ts";
import { startRedis, whyNoRedis } from "./support/redis.ts";

const skip = whyNoPostgres() ?? whyNoRedis() ?? false;

test("four servers on one PostgreSQL and one Redis", { skip }, async (t) => {
  const databaseUrl = await freshDatabase(t);
  const redis = await startRedis();
  t.after(() => redis.end());
  await publishShared(t, { databaseUrl }, cast);
  const engines = [
    ["Redis", { databaseUrl, countersUrl: redis.url }],
    ["PostgreSQL", { databaseUrl }],
  ] as const;
  for (const [engine, shared] of engines)
    for (const [clocks, secondsApart] of [
      ["the same clock", 0],
      ["clocks five seconds apart", 5],
    ] as const)
      await t.test(
        `with ${clocks} admit sixty of four hundred requests at once, a hundred times, counted by ${engine}`,
        async (own) => {
          const instances = await Promise.all(
            [0, 1, 2, 3].map((number) =>
              startInstance(own, shared, { aheadMilliseconds: 1000 * secondsApart * number }),
            ),
          );
          await assertSixtyEachTime(own, shared, instances, 100);
        },
      );

  for (const [engine, shared] of engines)
    await t.test(
      `admit sixty of four hundred requests at once, twenty times while every core is busy, counted by ${engine}`,
      async (own) => {
        const instances = await Promise.all([0, 1, 2, 3].map(() => startInstance(own, shared)));
        await assertSixtyEachTime(own, shared, instances, 20, "busy");
      },
    );

  await t.test(
    "show a client that pages over all of them in turn, through ten publications, each record of a version once, or the new version",
    async (own) => {
      const shared = { databaseUrl };
      const instances = await Promise.all([0, 1, 2, 3].map(() => startInstance(own, shared)));
      await assertWholeVersions(own, shared, instances, 10);
    },
  );
});
