import assert from "node:assert/strict";
import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { type TestContext, test as onFile } from "node:test";
import { sql } from "kysely";
import { connectPostgres } from "#store/postgres.ts";
import { openFile, shapeOf, usageFile } from "#store/sqlite-file.ts";
import { openPostgresRetention, openRetention, type Retention } from "#usage/retention.ts";
import { day, hour, minute, noon } from "../support/control.ts";
import { forEachStore as test, storePlace, type StorePlace } from "../support/for-each-store.ts";
import { freshDatabase, onPostgres } from "../support/postgres.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import {
  countIn,
  idsIn,
  putRequests,
  readUsage,
  request,
  tidyUsage,
  type TimedRequest,
} from "../support/usage.ts";

async function storeWith(t: TestContext, requests: readonly TimedRequest[]) {
  const place = await storePlace(t);
  await putRequests(place, requests);
  return {
    place,
    remove: (retention: Partial<Retention>, now = noon) => tidyUsage(place, now, retention),
    ids: () => idsIn(place),
    /** Whether they are shown or not. */
    stored: () =>
      readUsage(place, async ({ database }) => {
        const { rows } = await sql<{
          count: number;
        }>`select count(*) as count from request`.execute(database);
        return Number(rows[0]!.count);
      }),
  };
}

const numbered = (count: number, at: (i: number) => number) =>
  Array.from({ length: count }, (_, i) => request({ at: at(i), requestId: String(i) }));

test("requests older than USAGE_LOG_DAYS are removed, and no others", async (t) => {
  const { remove, ids, stored } = await storeWith(
    t,
    numbered(20, (i) => noon - (20 - i) * day + 1),
  );
  await remove({ logDays: 3 });
  assert.deepEqual(await ids(), ["17", "18", "19"]);
  assert.equal(await stored(), 3);
  assert.equal(await remove({ logDays: 3 }), 0);
});

test("beyond USAGE_LOG_ROWS the oldest requests are removed", async (t) => {
  const { remove, ids } = await storeWith(
    t,
    numbered(50, () => noon),
  );
  await remove({ logRowsMax: 4 });
  assert.deepEqual(await ids(), ["46", "47", "48", "49"]);
});

test("a step removes 5,000 requests at most, so that nobody waits for long", async (t) => {
  const { remove, stored } = await storeWith(
    t,
    numbered(12_000, () => noon - 30 * day),
  );
  assert.equal(await remove({}), 3);
  assert.equal(await stored(), 0);
});

test("a request that a wrong clock put into the future keeps no older one", async (t) => {
  const future = request({ at: noon + 300 * day, requestId: "future" });
  const old = numbered(3000, () => noon - 30 * day);
  const { remove, ids, stored } = await storeWith(t, [future, ...old]);
  await remove({});
  assert.equal(await stored(), 1);
  assert.deepEqual(await ids(), ["future"]);
});

test("with USAGE_LOG_DAYS=0 what was kept before is removed, totals stay", async (t) => {
  const { place, remove, stored } = await storeWith(
    t,
    numbered(3, () => noon),
  );
  await putRequests(place, [request()], false);
  await remove({ logDays: 0 });
  assert.equal(await stored(), 0);
  assert.equal(await countIn(place), 4);
});

test("totals are kept for 400 days", async (t) => {
  const at = [noon - 401 * day, noon - 400 * day - hour, noon - 400 * day, noon];
  const { place, remove } = await storeWith(
    t,
    at.map((one) => request({ at: one })),
  );
  await remove({});
  const hours = await readUsage(place, ({ database }) =>
    database.selectFrom("usage_hour").select("hour").orderBy("hour").execute(),
  );
  const found = hours.map((row) => row.hour);
  assert.deepEqual(found, ["2025-10-17T12", "2026-11-21T12"]);
});

/** The steps of one server, which remembers when it looked for old requests. */
async function openSteps(t: TestContext, { dataDir, databaseUrl }: StorePlace) {
  const retention = { logDays: 14, logRowsMax: 1_000_000 };
  if (databaseUrl === null) {
    const connection = openFile(shapeOf("usage.sqlite", dataDir));
    t.after(() => connection.close());
    return openRetention(connection, retention);
  }
  const session = await connectPostgres(databaseUrl);
  t.after(() => session.close());
  const step = openPostgresRetention(retention);
  return (now: number) => step(session, now, 0);
}

test("a request is hidden from the minute on in which it is too old, and removed within an hour", async (t) => {
  const { place, ids, stored } = await storeWith(
    t,
    numbered(2, (i) => noon - 14 * day + i * minute),
  );
  const step = await openSteps(t, place);
  assert.equal(await step(noon), false);
  assert.deepEqual(await ids(), ["0", "1"]);
  assert.equal(await step(noon + minute), false);
  assert.deepEqual(await ids(), ["1"]);
  assert.equal(await stored(), 2);
  assert.equal(await step(noon + hour), true);
  assert.equal(await stored(), 0);
});

onPostgres("a log is searched in parts for what is old or surplus", async (t) => {
  const session = await connectPostgres(await freshDatabase(t));
  t.after(() => session.close());
  // Four requests on a page: a part has 32,768 of them.
  await session.query(
    `insert into request (account, at, key, operation, status, hundredths, bytes, id, query)
     select 1, case i % 10000 when 0 then 0 else $1::bigint end, 1, 1, 200, 1, 1, '', repeat('x', 1900)
     from generate_series(1, 40000) as i`,
    [noon],
  );
  const query = async <Row>(statement: any, values: readonly unknown[] = []) => {
    const plan = await session.query<object>(`explain ${statement}`, values);
    if (/ request /.test(statement))
      assert.match(JSON.stringify(plan), /Tid Range Scan on request/);
    return session.query<Row>(statement, values);
  };
  const step = openPostgresRetention({ logDays: 14, logRowsMax: 39_500 });
  let steps = 0;
  while (await step({ query }, noon, 40_000)) steps++;
  assert.equal(steps, 3);
  const [left] = await session.query<any>("select min(number), count(*) from request");
  assert.deepEqual(left, { min: 501, count: 39_496 });
});

const mebibyte = 1024 ** 2;

/** Puts rows of 4 KiB into the log: as many old ones, and after them as many of now. */
function fill(connection: DatabaseSync, old: number, young: number) {
  const insert = connection.prepare(`
    insert into request (account, at, key, operation, status, hundredths, bytes, id, query)
    with recursive counted (i) as (select 1 union all select i + 1 from counted where i < :count)
    select 1, :at, 1, 1, 200, 1, 1, randomblob(16), hex(randomblob(2048)) from counted`);
  insert.run({ count: old, at: noon - 30 * day });
  insert.run({ count: young, at: noon });
}

/** The size of the file once all that is in its write-ahead log is in it. */
function settledBytes(connection: DatabaseSync, dataDir: string): number {
  connection.exec("pragma wal_checkpoint(truncate)");
  return statSync(usageFile(dataDir)).size;
}

/** What the young requests are, to the byte. */
const contentOf = (connection: DatabaseSync) =>
  connection
    .prepare("select number, hex(id), query from request where at = ? order by number")
    .all(noon)
    .map((row) => JSON.stringify(row));

onFile("the file shrinks once rows are removed, and what is left is what it was", async (t) => {
  const dataDir = temporaryFolder(t);
  const connection = openFile(shapeOf("usage.sqlite", dataDir));
  t.after(() => connection.close());
  fill(connection, 5000, 125);
  const before = settledBytes(connection, dataDir);
  assert.ok(before > 20 * mebibyte, `${before}`);
  const young = contentOf(connection);
  const step = openRetention(connection, { logDays: 14, logRowsMax: 1_000_000 });
  while (step(noon));
  const after = settledBytes(connection, dataDir);
  assert.ok(after < 2 * mebibyte, `${after} of ${before} bytes`);
  assert.deepEqual(contentOf(connection), young);
  assert.equal(connection.prepare("pragma integrity_check").get()!["integrity_check"], "ok");
});
