import assert from "node:assert/strict";
import { type TestContext, test as onFile } from "node:test";
import fc from "fast-check";
import { CompiledQuery } from "kysely";
import { makeRequestId } from "#http/routes.ts";
import { openUsage } from "#store/stores.ts";
import {
  findRequests,
  type LoggedRequest,
  readRequests,
  type RequestFilter,
  requestsInPages,
} from "#usage/request-log.ts";
import { anyRequest } from "../support/any-request.ts";
import { noon } from "../support/control.ts";
import { forEachStore as test, storePlace } from "../support/for-each-store.ts";
import { putRequests, readUsage, request, type TimedRequest } from "../support/usage.ts";

async function usageOf(t: TestContext, requests: readonly TimedRequest[]) {
  const place = await storePlace(t);
  await putRequests(place, requests);
  const usage = await openUsage(place.dataDir, place);
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
  const place = await storePlace(t);
  await putRequests(
    place,
    ["a", "b", "c", "d"].map((requestId) => request({ requestId })),
  );
  const usage = await openUsage(place.dataDir, place);
  t.after(() => usage.close());
  const first = await readRequests(usage, { account: 1, limit: 2 });
  await putRequests(place, [request({ requestId: "new" })]);
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
  for (const after of ["", "x", "1", "1-", "'; drop table request; --", "9".repeat(40)])
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

/** What a plain list of all requests says, read from its beginning to its end. */
function naive(all: readonly TimedRequest[], account: number | undefined, filter: RequestFilter) {
  const { key, operation, statusClass, requestId, since = 0, until = Infinity } = filter;
  return all
    .map((one, number) => ({ one, number }))
    .filter(
      ({ one }) =>
        (account === undefined || one.account === account) &&
        (key === undefined || one.key === key) &&
        (operation === undefined || one.operation === operation) &&
        (statusClass === undefined || `${Math.floor(one.status / 100)}xx` === statusClass) &&
        (requestId === undefined || one.requestId === requestId) &&
        one.at >= since &&
        one.at < until,
    )
    .toSorted((a, b) => b.one.at - a.one.at || b.number - a.number)
    .map(({ one }) => ({ ...one, at: new Date(one.at).toISOString() }));
}

const requestOfAny = fc.record({ step: fc.integer({ min: -3, max: 4000 }), ...anyRequest });

const filterOfAny = fc.record(
  {
    key: fc.constantFrom("key_a", "key_b", "none"),
    operation: fc.constantFrom("fetch-gp", "fetch-signals"),
    statusClass: fc.constantFrom("2xx" as const, "4xx" as const),
    since: fc.integer({ min: noon - 1000, max: noon + 100_000 }),
    until: fc.integer({ min: noon - 1000, max: noon + 200_000 }),
  },
  { requiredKeys: [] },
);

test("the log says what a plain list of the same requests says, whatever is asked", async (t) => {
  const anything = fc.record({
    batches: fc.array(fc.array(requestOfAny, { minLength: 1, maxLength: 120 }), {
      minLength: 1,
      maxLength: 6,
    }),
    filters: fc.array(filterOfAny, { minLength: 4, maxLength: 4 }),
    limit: fc.integer({ min: 1, max: 60 }),
  });
  await fc.assert(
    fc.asyncProperty(anything, async ({ batches, filters, limit }) => {
      const place = await storePlace(t);
      const all: TimedRequest[] = [];
      let at = noon;
      for (const batch of batches) {
        const requests = batch.map(({ step, id, ...rest }) => {
          at += step;
          const requestId = id === "own" ? makeRequestId(at - Math.max(step, 0)) : id;
          return request({ ...rest, at, requestId });
        });
        all.push(...requests);
        await putRequests(place, requests);
      }
      await readUsage(place, async (usage) => {
        for (const filter of filters)
          for (const account of [1, 3, 5]) {
            const seen: LoggedRequest[] = [];
            let after: string | undefined;
            do {
              const page = await readRequests(usage, { account, filter, limit, after });
              seen.push(...page.requests);
              after = page.next ?? undefined;
            } while (after !== undefined);
            assert.deepEqual(seen, naive(all, account, filter));
          }
        const ids = [all[0]!, all.at(-1)!].map(({ requestId }) => requestId);
        for (const requestId of ["mine-1", "none", "req_00000000000000000000000000", ...ids]) {
          const filter = { ...filters[0]!, requestId };
          const found = await findRequests(usage, { filter, limit: 1000 });
          assert.deepEqual(found, naive(all, undefined, filter));
          const page = await readRequests(usage, { account: 1, filter, limit: 1000 });
          assert.deepEqual(page.requests, naive(all, 1, filter));
        }
      });
    }),
    { numRuns: 40 },
  );
});

onFile("pages are found through the index of accounts, however long the log", async (t) => {
  const usage = await usageOf(t, [request()]);
  const { rows } = await usage.database.executeQuery<{ detail: string }>(
    CompiledQuery.raw(
      `explain query plan select number from request
       where at >= (select at from request_log_start) and account = 1 and (at, number) < (5, 5) and status >= 200
       order by at desc, number desc limit 2`,
    ),
  );
  const plan = rows.map(({ detail }) => detail).join("; ");
  assert.match(plan, /request USING INDEX request_account \(account=\? AND/);
  assert.doesNotMatch(plan, /TEMP B-TREE/);
});

test("the view `requests` shows times, words and ids as somebody reads them", async (t) => {
  const own = makeRequestId(noon);
  const usage = await usageOf(t, [request({ requestId: "mine" }), request({ requestId: own })]);
  const { rows } = await usage.database.executeQuery<Record<string, unknown>>(
    CompiledQuery.raw("select * from requests order by number"),
  );
  const [first, second] = rows.map(({ number: _number, milliseconds, ...row }) => ({
    ...row,
    milliseconds: Number(milliseconds),
  }));
  assert.deepEqual(first, {
    at: "2026-11-21T12:00:00.000Z",
    account: 1,
    key: "key_a",
    operation: "fetch-gp",
    status: 200,
    milliseconds: 1.25,
    bytes: 1000,
    dataset: "20261121T090000Z-1",
    problem: null,
    id: "mine",
    query: null,
  });
  assert.match(String((second as { id?: unknown }).id), /^01a1fdfa4600[0-9a-f]{20}$/);
});
