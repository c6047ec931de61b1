import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { usageFile } from "#store/files.ts";
import { connectUsage } from "#usage/connection.ts";
import { openRetention, type Retention } from "#usage/retention.ts";
import { day, hour, noon } from "../support/control.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { idsIn, putRequests, request, type TimedRequest } from "../support/usage.ts";

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
  const stored = () =>
    column(
      "select last - number + 1 from request_recent union all select last - number + 1 from request_group",
    ).reduce((sum: number, count) => sum + Number(count), 0);
  const hours = () =>
    column("select hour from usage_hour union select hour from usage_recent order by hour");
  return { dataDir, connection, remove, ids: () => idsIn(dataDir), stored, hours };
}

const numbered = (count: number, at: (i: number) => number) =>
  Array.from({ length: count }, (_, i) => request({ at: at(i), requestId: String(i) }));

test("requests older than USAGE_LOG_DAYS are removed, and no others", async (t) => {
  const { remove, ids } = await storeWith(
    t,
    numbered(20, (i) => noon - (20 - i) * day + 1),
  );
  remove({ logDays: 3 });
  assert.deepEqual(await ids(), ["17", "18", "19"]);
  assert.equal(remove({ logDays: 3 }), 0);
});

test("beyond USAGE_LOG_ROWS the oldest requests are removed", async (t) => {
  const { remove, ids } = await storeWith(
    t,
    numbered(50, () => noon),
  );
  remove({ logRowsMax: 4 });
  assert.deepEqual(await ids(), ["46", "47", "48", "49"]);
});

test("a step removes one group at most, so that the thread never stands still for long", async (t) => {
  const { dataDir, remove, ids, stored } = await storeWith(t, []);
  const old = noon - 30 * day;
  for (let batch = 0; batch < 10; batch++)
    await putRequests(
      dataDir,
      numbered(8000, () => old),
    );
  assert.equal(remove({}, old), 3, "the totals added up, two groups");
  assert.equal(stored(), 80_000);
  assert.equal(remove({}), 2);
  assert.equal(stored(), 0);
  assert.deepEqual(await ids(), []);
});

test("a request that a wrong clock put into the future keeps no older one in the log, nor on disk", async (t) => {
  const future = request({ at: noon + 300 * day, requestId: "future" });
  const { remove, ids, connection } = await storeWith(t, [
    future,
    ...numbered(3000, () => noon - 30 * day),
  ]);
  remove({});
  const { runs } = connection.prepare("select count(*) as runs from request_run").get()!;
  assert.equal(runs, 1);
  assert.deepEqual(await ids(), ["future"]);
});

test("with USAGE_LOG_DAYS=0 what was kept before is removed, totals stay", async (t) => {
  const { remove, ids, hours } = await storeWith(
    t,
    numbered(3, () => noon),
  );
  remove({ logDays: 0 });
  assert.deepEqual(await ids(), []);
  assert.deepEqual(hours(), ["2026-11-21T12"]);
});

test("totals are kept for 400 days", async (t) => {
  const { dataDir, remove, hours } = await storeWith(t, [
    request({ at: noon - 400 * day - hour }),
    request({ at: noon - 400 * day }),
  ]);
  // So many batches that none of them waits any longer.
  for (let i = 8; i >= 0; i--) await putRequests(dataDir, [request({ at: noon - i * day })], false);
  assert.equal(hours().length, 11);
  remove({});
  assert.deepEqual(hours().slice(0, 2), ["2025-10-17T12", "2026-11-13T12"]);
});

const mebibyte = 1024 ** 2;

/** Puts rows of 4 KiB into the log: as many old ones, and after them as many of now. */
function fill(connection: DatabaseSync, old: number, young: number, bytes = 4096) {
  const insert = connection.prepare(`
    insert into request_recent (number, last, first_at, last_at, accounts, content)
    with recursive counted (i) as (select 1 union all select i + 1 from counted where i < :count)
    select i + after, i + after, :at, :at, x'', randomblob(:bytes) from counted,
      (select coalesce(max(last), 0) as after from request_recent)`);
  if (old > 0) insert.run({ count: old, at: noon - 30 * day, bytes });
  if (young > 0) insert.run({ count: young, at: noon, bytes });
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
    .prepare("select number, hex(content) from request_recent where first_at = ? order by number")
    .all(noon)
    .map((row) => JSON.stringify(row));

test("the file shrinks once rows are removed, a little at a time, and what is left is what it was", async (t) => {
  const { dataDir, connection } = await storeWith(t, []);
  fill(connection, 5000, 125);
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
  assert.ok(steps > 5000 + 10, `${steps} steps`);
  const after = settledBytes(connection, dataDir);
  assert.ok(after < 6 * mebibyte, `${after} of ${before} bytes`);
  assert.deepEqual(contentOf(connection), young);
  assert.equal(connection.prepare("pragma integrity_check").get()!["integrity_check"], "ok");
});

test("free space that the next hours will fill again is not given back", async (t) => {
  const { dataDir, connection, remove } = await storeWith(t, []);
  fill(connection, 500, 125);
  const before = settledBytes(connection, dataDir);
  assert.equal(remove({}), 500);
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
  fill(connection, 5000, 125);
  const young = contentOf(connection);
  remove();
  assert.equal(pragma(connection, "auto_vacuum"), 2);
  const after = settledBytes(connection, dataDir);
  assert.ok(after < 2 * mebibyte, `${after}`);
  assert.deepEqual(contentOf(connection), young);
  assert.equal(pragma(connection, "user_version"), 0);
  fill(connection, 5000, 0);
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
  fill(connection, 5000, 125);
  // A statement that is not at its end keeps SQLite from it.
  const reading = connection.prepare("select number from request_recent").iterate();
  reading.next();
  assert.throws(remove, /cannot VACUUM/);
  assert.equal(remove(), 0);
  reading.return!();
  assert.equal(remove(), 0);
  assert.equal(pragma(connection, "auto_vacuum"), 0);
  fill(connection, 0, 125);
  assert.equal(contentOf(connection).length, 250);
});
