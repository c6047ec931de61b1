import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { KyselyPlugin } from "kysely";
import { checkBlock } from "#store/request-block.ts";
import { connectPostgres } from "#store/postgres.ts";
import { openPostgresWrites } from "#usage/postgres-writes.ts";
import { readRequests } from "#usage/request-log.ts";
import { day, hour, noon } from "../support/control.ts";
import { freshDatabase, runSql, whyNoPostgres } from "../support/postgres.ts";
import {
  chunkOf,
  countIn,
  idsIn,
  placeIn,
  putRequests,
  readUsage,
  request,
  tidyUsage,
  type TimedRequest,
} from "../support/usage.ts";
import type { Retention } from "#usage/retention.ts";

const skip = whyNoPostgres() ?? false;

async function storeWith(t: TestContext, requests: readonly TimedRequest[]) {
  const url = await freshDatabase(t);
  const place = placeIn(url);
  const put = (more: readonly TimedRequest[], keepsLog = true) =>
    putRequests(place, more, keepsLog);
  if (requests.length > 0) await put(requests);
  const counts = async () => {
    const [row] = await runSql<Record<string, number>>(
      url,
      `select (select count(*)::integer from request_recent) as recent, (select count(*)::integer from request_group) as groups,
         (select count(*)::integer from request_block) as blocks, (select count(*)::integer from request_run) as runs,
         (select count(*)::integer from request_text_id) as ids, (select count(*)::integer from usage_recent) as sums`,
    );
    return row!;
  };
  return {
    url,
    place,
    put,
    counts,
    tidy: (retention: Partial<Retention> = {}, now = noon) => tidyUsage(place, now, retention),
    ids: () => idsIn(place),
    total: () => countIn(place),
  };
}

const numbered = (count: number, at: (i: number) => number) =>
  Array.from({ length: count }, (_, i) => request({ at: at(i), requestId: String(i) }));

test(
  "requests older than USAGE_LOG_DAYS are not shown, and removed with the last of their group",
  { skip },
  async (t) => {
    const { tidy, ids, counts } = await storeWith(
      t,
      numbered(20, (i) => noon - (20 - i) * day + 1),
    );
    await tidy({ logDays: 3 });
    assert.deepEqual(await ids(), ["17", "18", "19"]);
    assert.equal(await tidy({ logDays: 3 }), 0);
    await tidy({ logDays: 3 }, noon + 4 * day);
    assert.deepEqual(await ids(), []);
    const { recent, groups, blocks, runs, ids: texts } = await counts();
    assert.deepEqual([recent, groups, blocks, runs, texts], [0, 0, 0, 0, 0]);
  },
);

test(
  "beyond USAGE_LOG_ROWS the oldest groups go, as long as as many requests are left",
  { skip },
  async (t) => {
    const { tidy, put, ids, counts } = await storeWith(t, []);
    for (let i = 0; i < 4; i++) {
      await put(numbered(100, () => noon - (4 - i) * day));
      await tidy({}, noon - (3 - i) * day);
    }
    assert.equal((await counts())["groups"], 4);
    await tidy({ logRowsMax: 150 });
    assert.equal((await counts())["groups"], 2);
    assert.equal((await ids()).length, 200);
    await tidy({ logRowsMax: 100 });
    assert.equal((await ids()).length, 100);
  },
);

test(
  "a request that a wrong clock put into the future keeps no older one in the log, nor in the database",
  { skip },
  async (t) => {
    const future = request({ at: noon + 300 * day, requestId: "future" });
    const { tidy, ids, counts } = await storeWith(t, [
      future,
      ...numbered(3000, () => noon - 30 * day),
    ]);
    await tidy({});
    assert.equal((await counts())["runs"], 1);
    assert.deepEqual(await ids(), ["future"]);
  },
);

test("with USAGE_LOG_DAYS=0 what was kept before is removed, totals stay", { skip }, async (t) => {
  const { tidy, ids, total, put, counts } = await storeWith(
    t,
    numbered(3, () => noon),
  );
  await put([request()], false);
  await tidy({ logDays: 0 });
  assert.deepEqual(await ids(), []);
  assert.equal((await counts())["recent"], 0);
  assert.equal(await total(), 4);
});

test("totals are kept for 400 days", { skip }, async (t) => {
  const { url, put, tidy } = await storeWith(t, []);
  await put([request({ at: noon - 400 * day - hour }), request({ at: noon - 400 * day })], false);
  // So many batches that none of them waits any longer.
  for (let i = 32; i > 0; i--) await put([request({ at: noon - i * day })], false);
  await tidy({});
  const hours = await runSql<{ hour: string }>(
    url,
    "select hour from usage_hour union select hour from usage_recent order by hour limit 2",
  );
  assert.deepEqual(
    hours.map((row) => row.hour),
    ["2025-10-17T12", "2026-10-20T12"],
  );
});

test(
  "the small blocks of many seconds become one, and groups of blocks that are in order, whoever wrote them",
  { skip },
  async (t) => {
    const { url, tidy, ids, total, counts } = await storeWith(t, []);
    // By two in turn, each of which has numbers of its own.
    const sessions = [await connectPostgres({ url }), await connectPostgres({ url })];
    const writes = sessions.map(({ query }) => openPostgresWrites(query, true));
    for (let i = 0; i < 100; i++) {
      const rows = chunkOf([request({ at: noon + i, requestId: String(i) })]);
      await writes[i % 2]!({ kind: "requests", rows, now: noon });
    }
    for (const session of sessions) session.close();
    assert.equal((await counts())["recent"], 100);
    await tidy({});
    const small = await counts();
    assert.ok(small["recent"]! < 32, `${small["recent"]} blocks`);
    assert.ok(small["sums"]! <= 32, `${small["sums"]} rows of sums`);
    const all = Array.from({ length: 100 }, (_, i) => String(i));
    assert.deepEqual(await ids(), all);
    await tidy({}, noon + 2 * day);
    const { recent, groups } = await counts();
    assert.deepEqual([recent, groups], [0, 1]);
    const blocks = await runSql<{ content: Uint8Array }>(url, "select content from request_block");
    for (const { content } of blocks) checkBlock(content);
    assert.deepEqual(await ids(), all);
    assert.equal(await total(), 100);
  },
);

test("a group is made of some 33,000 requests, however many wait", { skip }, async (t) => {
  const { put, tidy, counts, total } = await storeWith(t, []);
  for (let batch = 0; batch < 9; batch++) await put(numbered(8000, () => noon));
  await tidy({});
  const { groups, recent } = await counts();
  assert.equal(groups, 2);
  assert.ok(recent! > 0);
  assert.equal(await total(), 72_000);
});

test(
  "a page that is read while blocks are joined, or put into a group, misses no request and shows none twice",
  { skip },
  async (t) => {
    for (const later of [0, 2 * day]) {
      const { place, put, tidy } = await storeWith(t, []);
      for (let i = 0; i < 60; i++) await put([request({ at: noon + i, requestId: String(i) })]);
      let steps = 0;
      const found = await readUsage(place, async ({ database, ...usage }) => {
        // After the first statement, which has read the newest two blocks.
        const between: KyselyPlugin = {
          transformQuery: ({ node }) => node,
          async transformResult({ result }) {
            if (steps === 0) steps = await tidy({}, noon + later);
            return result;
          },
        };
        const watched = { ...usage, database: database.withPlugin(between) };
        return (await readRequests(watched, { account: 1, limit: 50 })).requests;
      });
      assert.ok(steps > 0);
      assert.deepEqual(
        found.map(({ requestId }) => requestId),
        Array.from({ length: 50 }, (_, i) => String(59 - i)),
      );
    }
  },
);
