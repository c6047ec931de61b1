import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { CompiledQuery } from "kysely";
import { openUsage } from "#store/stores.ts";
import {
  findRequests,
  type LoggedRequest,
  readRequests,
  type RequestFilter,
  requestsInPages,
} from "#usage/request-log.ts";
import { noon } from "../support/control.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { putRequests, request, type TimedRequest } from "../support/usage.ts";

async function usageOf(t: TestContext, requests: readonly TimedRequest[]) {
  const dataDir = temporaryFolder(t);
  await putRequests(dataDir, requests);
  const usage = await openUsage(dataDir);
  t.after(() => usage.close());
  return usage;
}

const idsOf = (requests: readonly LoggedRequest[]) => requests.map(({ requestId }) => requestId);

test("all that was recorded of a request is read", async (t) => {
  const usage = await usageOf(t, [
    request({ query: "gp_name=x", problem: "quota-exceeded", status: 429 }),
  ]);
  const { requests, next } = await readRequests(usage, { account: 1, limit: 1 });
  assert.deepEqual(requests, [
    {
      at: "2026-11-21T12:00:00.000Z",
      account: 1,
      key: "key_a",
      operation: "fetch-gp",
      status: 429,
      milliseconds: 1.25,
      bytes: 1000,
      dataset: "20261121T090000Z-1",
      problem: "quota-exceeded",
      requestId: "req_1",
      query: "gp_name=x",
    },
  ]);
  assert.equal(next, null);
});

test("pages go from the newest to the oldest, each request once, also those of one millisecond", async (t) => {
  const usage = await usageOf(
    t,
    Array.from({ length: 25 }, (_, i) =>
      request({ at: noon + Math.floor(i / 10), requestId: String(i) }),
    ),
  );
  const seen: string[] = [];
  const sizes: number[] = [];
  let after: string | undefined;
  do {
    const page = await readRequests(usage, { account: 1, limit: 10, after });
    seen.push(...idsOf(page.requests));
    sizes.push(page.requests.length);
    after = page.next ?? undefined;
  } while (after !== undefined);
  assert.deepEqual(sizes, [10, 10, 5]);
  assert.deepEqual(
    seen,
    Array.from({ length: 25 }, (_, i) => String(24 - i)),
  );
});

test("requests that come while somebody turns pages neither shift nor repeat what follows", async (t) => {
  const dataDir = temporaryFolder(t);
  await putRequests(
    dataDir,
    ["a", "b", "c", "d"].map((requestId) => request({ requestId })),
  );
  const usage = await openUsage(dataDir);
  t.after(() => usage.close());
  const first = await readRequests(usage, { account: 1, limit: 2 });
  await putRequests(dataDir, [request({ requestId: "new" })]);
  const second = await readRequests(usage, { account: 1, limit: 2, after: first.next! });
  assert.deepEqual(
    [idsOf(first.requests), idsOf(second.requests)],
    [
      ["d", "c"],
      ["b", "a"],
    ],
  );
});

test("a page that was never given is the first page", async (t) => {
  const usage = await usageOf(t, [request()]);
  for (const after of ["", "x", "1", "1-", "'; drop table request_log; --", "9".repeat(40)])
    assert.equal((await readRequests(usage, { account: 1, limit: 5, after })).requests.length, 1);
});

test("each filter leaves what it names, and together they leave what all of them name", async (t) => {
  const usage = await usageOf(t, [
    request({ requestId: "a", key: "key_b" }),
    request({ requestId: "b", operation: "fetch-signals" }),
    request({ requestId: "c", status: 404 }),
    request({ requestId: "d", status: 429, at: noon + 10 }),
    request({ requestId: "e", status: 399, at: noon - 10 }),
    request({ requestId: "f", status: 500, key: "key_b" }),
  ]);
  const found = async (filter: RequestFilter) =>
    idsOf((await readRequests(usage, { account: 1, filter, limit: 10 })).requests)
      .toSorted()
      .join("");
  assert.equal(await found({}), "abcdef");
  assert.equal(await found({ key: "key_b" }), "af");
  assert.equal(await found({ operation: "fetch-signals" }), "b");
  assert.equal(await found({ statusClass: "2xx" }), "ab");
  assert.equal(await found({ statusClass: "3xx" }), "e");
  assert.equal(await found({ statusClass: "4xx" }), "cd");
  assert.equal(await found({ statusClass: "5xx" }), "f");
  assert.equal(await found({ requestId: "c" }), "c");
  assert.equal(await found({ since: noon }), "abcdf");
  assert.equal(await found({ until: noon }), "e");
  assert.equal(await found({ since: noon - 10, until: noon + 10 }), "abcef");
  assert.equal(await found({ key: "key_b", statusClass: "5xx", since: noon }), "f");
  assert.equal(await found({ key: "key_b", operation: "fetch-signals" }), "");
});

test("an account never sees what another one asked, whatever it filters or turns to", async (t) => {
  const usage = await usageOf(t, [
    request({ account: 1, requestId: "own" }),
    request({ account: 2, requestId: "other", key: "key_b" }),
    request({ account: 2, requestId: "own", key: "key_b" }),
  ]);
  const first = await readRequests(usage, { account: 2, limit: 1 });
  for (const filter of [{}, { key: "key_b" }, { requestId: "other" }])
    for (const after of [undefined, first.next!]) {
      const { requests } = await readRequests(usage, { account: 1, filter, limit: 10, after });
      assert.ok(requests.every(({ account }) => account === 1));
    }
  const found = (requestId: string, account?: number) =>
    findRequests(usage, { account, filter: { requestId }, limit: 10 });
  assert.deepEqual(await found("other", 1), []);
  assert.deepEqual(
    (await found("own", 1)).map(({ key }) => key),
    ["key_a"],
  );
  assert.equal((await found("own")).length, 2);
});

test("an export gives as many requests as asked for, over as many pages as it takes", async (t) => {
  const usage = await usageOf(
    t,
    Array.from({ length: 2500 }, (_, i) => request({ requestId: String(i) })),
  );
  for (const [countMax, expected] of [
    [1, 1],
    [1000, 1000],
    [1001, 1001],
    [9999, 2500],
  ] as const) {
    const seen = new Set<string>();
    for await (const page of requestsInPages(usage, { account: 1, countMax }))
      for (const { requestId } of page) seen.add(requestId);
    assert.equal(seen.size, expected);
  }
});

test("pages and ids are found through the indexes, however long the log", async (t) => {
  const usage = await usageOf(t, [request()]);
  const planOf = async (sqlText: string) => {
    const { rows } = await usage.database.executeQuery<{ detail: string }>(
      CompiledQuery.raw(`explain query plan ${sqlText}`),
    );
    return rows.map(({ detail }) => detail).join("; ");
  };
  const paged = await planOf(
    "select * from request_log where account = 1 and (at, number) < (5, 5) order by at desc, number desc limit 5",
  );
  assert.match(paged, /request_log_account \(account=\? AND at</);
  assert.doesNotMatch(paged, /TEMP B-TREE/);
  assert.match(await planOf("select * from request_log where request_id = 'x'"), /request_id=\?/);
});
