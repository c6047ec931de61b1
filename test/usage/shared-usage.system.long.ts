import assert from "node:assert/strict";
import { join } from "node:path";
import type { TestContext } from "node:test";
import fc from "fast-check";
import { makeRequestId } from "#http/routes.ts";
import { connectPostgres } from "#store/postgres.ts";
import { openPostgresWrites } from "#usage/writes.ts";
import { readRequests } from "#usage/request-log.ts";
import { sizeOf, type WriterOptions } from "#usage/writer.ts";
import { anyRequest } from "../support/any-request.ts";
import { day, noon } from "../support/control.ts";
import { eventually } from "../support/eventually.ts";
import { openFarAway } from "../support/far-away.ts";
import type { StorePlace } from "../support/for-each-store.ts";
import {
  freshDatabase,
  makeRecords,
  onPostgres as test,
  runSql,
  startPostgres,
} from "../support/postgres.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import {
  batchOf,
  countIn,
  idsIn,
  placeIn,
  postgresWrites,
  putRequests,
  readUsage,
  request,
  tidyUsage,
  usageOf,
  watchedWriter,
} from "../support/usage.ts";

const requestOfAny = fc.record({ step: fc.integer({ min: 1, max: 4_000_000 }), ...anyRequest });

const stream = fc.array(
  fc.record({
    requests: fc.array(requestOfAny, { minLength: 1, maxLength: 60 }),
    writer: fc.constantFrom(0, 1),
  }),
  { minLength: 1, maxLength: 50 },
);

test("what two instances recorded in PostgreSQL is read as what one recorded in a file is, request by request and sum by sum", async (t) => {
  await fc.assert(
    fc.asyncProperty(stream, async (batches) => {
      const url = await freshDatabase(t);
      const file = temporaryFolder(t);
      const sessions = [await connectPostgres(url), await connectPostgres(url)];
      const writes = sessions.map(({ query }) => postgresWrites(query));
      const ids = ["mine-1", "none"];
      let at = noon;
      for (const { requests, writer } of batches) {
        const own = requests.map(({ step, id, ...rest }) => {
          at += step;
          return request({ ...rest, at, requestId: id === "own" ? makeRequestId(at) : id });
        });
        ids.push(own[0]!.requestId);
        await putRequests(file, own);
        await writes[writer]!(batchOf(own));
      }
      for (const session of sessions) session.close();
      assert.deepEqual(await usageOf(placeIn(url)), await usageOf(file));
      const found = (place: string | StorePlace) =>
        readUsage(place, async (usage) => {
          const foundOf = (requestId: string) =>
            readRequests(usage, { account: null, filter: { requestId }, limit: 1000 });
          return Promise.all(ids.map(foundOf));
        });
      assert.deepEqual(await found(placeIn(url)), await found(file));
    }),
    { numRuns: 12 },
  );
});

test("a batch that is written again, or comes late on another connection, counts once, and what follows it counts", async (t) => {
  const url = await freshDatabase(t);
  const session = await connectPostgres(url);
  t.after(() => session.close());
  const sent: [text: string, values: readonly unknown[]][] = [];
  let isHeard = false;
  const write = openPostgresWrites(
    async (statement, values) => {
      const rows = await session.query(statement, values);
      if (typeof statement === "string") return rows as never;
      sent.push([statement.text, values ?? []]);
      if (!isHeard) throw new Error("the answer did not arrive");
      return rows as never;
    },
    true,
    "one",
  );
  const two = batchOf([request({ requestId: "a" }), request({ requestId: "b" })]);
  const first = { number: 1, batch: two };
  await assert.rejects(write(first), /did not arrive/);
  isHeard = true;
  await write(first);
  await write({ number: 2, batch: batchOf([request({ requestId: "c" })]) });
  for (const [text, values] of sent) await session.query(text, values);
  assert.equal(sent.length, 3);
  assert.equal(await countIn(placeIn(url)), 3);
  assert.deepEqual(await idsIn(placeIn(url)), ["a", "b", "c"]);
});

async function openWorld(t: TestContext) {
  const postgres = await startPostgres();
  t.after(() => postgres.stop());
  const url = await makeRecords(postgres);
  const open = (options: Partial<WriterOptions> = {}) =>
    watchedWriter(t, { databaseUrl: url, ...options });
  return { postgres, url, open };
}

const batchesOf = (count: number, name = "req") =>
  Array.from({ length: count }, (_, i) =>
    batchOf([request({ at: noon + i, requestId: `${name}_${i}` })]),
  );

const namesOf = (count: number, name = "req") =>
  Array.from({ length: count }, (_, i) => `${name}_${i}`);

test("what PostgreSQL's absence is too long for is bounded: the oldest is lost and told, the rest is written in order once it is back", async (t) => {
  const { postgres, url, open } = await openWorld(t);
  const batches = batchesOf(10);
  const { writer, faults } = open({ keptBytesMax: 4 * sizeOf(batches[9]!) });
  await postgres.stop();
  for (const batch of batches) {
    writer.write(batch);
    await writer.settled();
  }
  assert.equal(writer.lostCount(), 6);
  await postgres.start();
  await eventually(() => assert.deepEqual(faults.slice(1), [null]));
  assert.deepEqual(await idsIn(placeIn(url)), namesOf(10).slice(6));
  assert.equal(await countIn(placeIn(url)), 4);
  await writer.close();
  assert.equal(writer.lostCount(), 6);
});

test("a batch whose commit was not heard of, as the connection was cut after it was sent, counts once", async (t) => {
  const { url, postgres } = await openWorld(t);
  const socket = decodeURIComponent(new URL(postgres.url).hostname);
  const way = await openFarAway(t, join(socket, ".s.PGSQL.5432"));
  const databaseUrl = `postgres://postgres@127.0.0.1:${way.port}/records`;
  const { writer, faults } = watchedWriter(t, { databaseUrl });
  const [first, second, third] = batchesOf(3);
  writer.write(first!);
  await writer.settled();
  way.silenceAfter("usage_add");
  writer.write(second!);
  // It is committed, and its writer does not know.
  await eventually(async () => assert.equal(await countIn(placeIn(url)), 2));
  await writer.settled();
  assert.equal(faults.length, 1);
  way.mend();
  writer.write(third!);
  await eventually(() => assert.deepEqual(faults.slice(1), [null]));
  assert.equal(await countIn(placeIn(url)), 3);
  assert.deepEqual(await idsIn(placeIn(url)), namesOf(3));
  await writer.close();
});

const endUsage =
  "select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = 'gp-records usage'";

test("that PostgreSQL takes writes again is told without a further request", async (t) => {
  const { postgres, url, open } = await openWorld(t);
  const { writer, faults } = open();
  const setReadOnly = async (value: string) => {
    const setting = `default_transaction_read_only = ${value}`;
    await runSql(postgres.url, `alter database records set ${setting}`);
    await runSql(url, endUsage);
  };
  await setReadOnly("on");
  writer.write(batchOf([request()]));
  await eventually(() => assert.match(faults[0] ?? "", / takes no writes\. /));
  await setReadOnly("off");
  await eventually(() => assert.deepEqual(faults.slice(1), [null]));
});

test("words that a crash of PostgreSQL lost are stored again", async (t) => {
  const { url, open } = await openWorld(t);
  const { writer } = open();
  writer.write(batchOf([request()]));
  await writer.settled();
  await runSql(url, "delete from word");
  await runSql(url, endUsage);
  writer.write(batchOf([request({ requestId: "req_2", problem: "not-found" })]));
  await eventually(async () => assert.equal(await countIn(placeIn(url)), 2));
  const order = { account: 1, filter: { requestId: "req_2" }, limit: 1 };
  const [second] = (await readUsage(placeIn(url), (usage) => readRequests(usage, order))).requests;
  assert.deepEqual([second!.key, second!.operation], ["key_a", "fetch-gp"]);
});

test("closing while PostgreSQL is away tells what could not be written as lost", async (t) => {
  const { postgres, open } = await openWorld(t);
  const { writer } = open();
  writer.write(batchesOf(1)[0]!);
  await writer.settled();
  postgres.pause();
  try {
    writer.write(batchOf([request(), request()]));
    await writer.close();
  } finally {
    postgres.resume();
  }
  assert.equal(writer.lostCount(), 2);
});

test("instances that write for different accounts do not wait for each other, nor for the one that removes what is old", async (t) => {
  const url = await freshDatabase(t);
  const sessions = await Promise.all([1, 2, 3].map(() => connectPostgres(url)));
  t.after(() => sessions.forEach((session) => session.close()));
  const [one, other, tidying] = sessions;
  // Each is in the middle of a transaction that has written everything an instance writes.
  for (const [i, { query }] of [one!, other!].entries()) {
    const write = postgresWrites(query);
    const batch = batchOf([
      request({ account: 1 + i }),
      request({ account: 1 + i, at: noon - 30 * day }),
    ]);
    await write(batch);
    await query("begin");
    await write(batchOf([request({ account: 1 + i })]));
  }
  await tidying!.query("begin");
  await tidying!.query("delete from request where at < $1", [noon - 20 * day]);
  assert.equal(await tidyUsage(placeIn(url), noon), 0);
  await tidying!.query("rollback");
  assert.equal(await tidyUsage(placeIn(url), noon), 1);
  for (const { query } of [one!, other!]) await query("commit");
  assert.equal(await countIn(placeIn(url)), 3);
  assert.equal((await idsIn(placeIn(url))).length, 2);
});
