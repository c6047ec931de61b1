import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { usageFile } from "#store/files.ts";
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
  return { dataDir, connection, remove, ids, hours };
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

const mebibyte = 1024 ** 2;

/** Puts requests of 1 KiB each into the log: as many old ones, and after them as many of now. */
function fill(connection: DatabaseSync, old: number, young: number, bytes = 1024) {
  const insert = connection.prepare(`
    insert into request_log (at, account, key, operation, status, milliseconds, bytes, request_id, query)
    with recursive counted (i) as (select 1 union all select i + 1 from counted where i < ?)
    select ?, 1, 'key_a', 'fetch-gp', 200, 1, 1, 'req_' || i, hex(zeroblob(?)) from counted`);
  if (old > 0) insert.run(old, noon - 30 * day, bytes / 2);
  if (young > 0) insert.run(young, noon, bytes / 2);
}

const pragma = (connection: DatabaseSync, name: string) =>
  Number(Object.values(connection.prepare(`pragma ${name}`).get()!)[0]);

/** The size of the file once all that is in its write-ahead log is in it. */
function settledBytes(connection: DatabaseSync, dataDir: string): number {
  connection.exec("pragma wal_checkpoint(truncate)");
  return statSync(usageFile(dataDir)).size;
}

/** What the young requests are, to the byte. */
const contentOf = (connection: DatabaseSync) =>
  connection
    .prepare("select * from request_log where at = ? order by number")
    .all(noon)
    .map((row) => JSON.stringify(row));

test("the file shrinks once rows are removed, a little at a time, and what is left is what it was", async (t) => {
  const { dataDir, connection } = await storeWith(t, []);
  fill(connection, 20_000, 500);
  const before = settledBytes(connection, dataDir);
  assert.ok(before > 20 * mebibyte, `${before}`);
  const young = contentOf(connection);
  const step = openRetention(connection, { logDays: 14, logRowsMax: 1_000_000 });
  let steps = 0;
  for (let pages = pragma(connection, "page_count"); step(noon); steps++) {
    const left = pragma(connection, "page_count");
    // And of those pages that tell where the others are.
    assert.ok(pages - left <= 256 + 4, `${pages - left} pages at once`);
    pages = left;
  }
  assert.ok(steps > 20_000 / 2000 + 10, `${steps} steps`);
  const after = settledBytes(connection, dataDir);
  assert.ok(after < 6 * mebibyte, `${after} of ${before} bytes`);
  assert.deepEqual(contentOf(connection), young);
  assert.equal(connection.prepare("pragma integrity_check").get()!["integrity_check"], "ok");
});

test("free space that the next hours will fill again is not given back", async (t) => {
  const { dataDir, connection, remove } = await storeWith(t, []);
  fill(connection, 2000, 500);
  const before = settledBytes(connection, dataDir);
  assert.equal(remove({}), 1);
  assert.ok(pragma(connection, "freelist_count") > 100);
  assert.equal(settledBytes(connection, dataDir), before);
});

/** A store as earlier versions made it, which cannot give back free space. */
async function formerStore(t: TestContext) {
  const dataDir = temporaryFolder(t);
  const former = new DatabaseSync(usageFile(dataDir));
  former.exec("create table any (one integer); drop table any");
  former.close();
  const connection = await connectUsage(dataDir, 1000);
  t.after(() => connection.close());
  assert.equal(pragma(connection, "auto_vacuum"), 0);
  const step = openRetention(connection, { logDays: 14, logRowsMax: 1_000_000 });
  const remove = () => {
    let steps = 0;
    while (step(noon)) steps++;
    return steps;
  };
  return { dataDir, connection, remove };
}

test("a file that an earlier version made is written anew once it holds little, and loses no row", async (t) => {
  const { dataDir, connection, remove } = await formerStore(t);
  fill(connection, 20_000, 500);
  const young = contentOf(connection);
  remove();
  assert.equal(pragma(connection, "auto_vacuum"), 2);
  const after = settledBytes(connection, dataDir);
  assert.ok(after < 2 * mebibyte, `${after}`);
  assert.deepEqual(contentOf(connection), young);
  assert.equal(pragma(connection, "user_version"), 0);
  fill(connection, 20_000, 0);
  remove();
  assert.ok(settledBytes(connection, dataDir) < 6 * mebibyte);
  assert.deepEqual(contentOf(connection), young);
});

test("a file that an earlier version made keeps its size while it holds so much that to write it anew would take long", async (t) => {
  const { dataDir, connection, remove } = await formerStore(t);
  fill(connection, 40, 65, mebibyte);
  const before = settledBytes(connection, dataDir);
  remove();
  assert.equal(pragma(connection, "auto_vacuum"), 0);
  assert.equal(settledBytes(connection, dataDir), before);
  assert.equal(contentOf(connection).length, 65);
});

test("where a file of an earlier version cannot be written anew, that is tried once and what comes is kept", async (t) => {
  const { connection, remove } = await formerStore(t);
  fill(connection, 20_000, 500);
  // A statement that is not at its end keeps SQLite from it.
  const reading = connection.prepare("select number from request_log").iterate();
  reading.next();
  assert.throws(remove, /cannot VACUUM/);
  assert.equal(remove(), 0);
  reading.return!();
  assert.equal(remove(), 0);
  assert.equal(pragma(connection, "auto_vacuum"), 0);
  fill(connection, 0, 500);
  assert.equal(contentOf(connection).length, 1000);
});
