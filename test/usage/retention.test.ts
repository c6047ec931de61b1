import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { connectUsage } from "#usage/connection.ts";
import { openRetention, type Retention } from "#usage/retention.ts";
import { day, hour, noon } from "../support/control.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { putRequests, request, type TimedRequest } from "../support/usage.ts";

async function storeWith(t: TestContext, requests: readonly TimedRequest[]) {
  const dataDir = temporaryFolder(t);
  await putRequests(dataDir, requests);
  const connection = await connectUsage(dataDir, 1000);
  t.after(() => connection.close());
  const remove = (retention: Partial<Retention>, now = noon) => {
    const step = openRetention(connection, { logDays: 14, logRowsMax: 1_000_000, ...retention });
    let steps = 0;
    while (step(now)) steps++;
    return steps;
  };
  const column = (sql: string) =>
    connection
      .prepare(sql)
      .all()
      .map((row) => Object.values(row)[0]);
  const ids = () => column("select request_id from request_log order by number");
  const hours = () => column("select hour from usage_hour order by hour");
  return { remove, ids, hours };
}

const numbered = (count: number, at: (i: number) => number) =>
  Array.from({ length: count }, (_, i) => request({ at: at(i), requestId: String(i) }));

test("requests older than USAGE_LOG_DAYS are removed, and no others", async (t) => {
  const { remove, ids } = await storeWith(
    t,
    numbered(20, (i) => noon - (20 - i) * day + 1),
  );
  remove({ logDays: 3 });
  assert.deepEqual(ids(), ["17", "18", "19"]);
  assert.equal(remove({ logDays: 3 }), 0);
});

test("beyond USAGE_LOG_ROWS the oldest requests are removed", async (t) => {
  const { remove, ids } = await storeWith(
    t,
    numbered(50, () => noon),
  );
  remove({ logRowsMax: 4 });
  assert.deepEqual(ids(), ["46", "47", "48", "49"]);
});

test("a step removes so little that the thread never stands still for long", async (t) => {
  const { remove, ids } = await storeWith(
    t,
    numbered(5000, () => noon - 30 * day),
  );
  assert.equal(remove({}), 3);
  assert.deepEqual(ids(), []);
});

test("a request that a wrong clock put into the future keeps no older one in the log", async (t) => {
  const future = request({ at: noon + 300 * day, requestId: "future" });
  const { remove, ids } = await storeWith(t, [future, ...numbered(3000, () => noon - 30 * day)]);
  remove({});
  assert.deepEqual(ids(), ["future"]);
});

test("with USAGE_LOG_DAYS=0 what was kept before is removed, totals stay", async (t) => {
  const { remove, ids, hours } = await storeWith(
    t,
    numbered(3, () => noon),
  );
  remove({ logDays: 0 });
  assert.deepEqual(ids(), []);
  assert.deepEqual(hours(), ["2026-11-21T12"]);
});

test("totals are kept for 400 days", async (t) => {
  const { remove, hours } = await storeWith(t, [
    request({ at: noon - 400 * day - hour }),
    request({ at: noon - 400 * day }),
    request(),
  ]);
  assert.equal(hours().length, 3);
  remove({});
  assert.deepEqual(hours(), ["2025-10-17T12", "2026-11-21T12"]);
});
