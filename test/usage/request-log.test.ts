import assert from "node:assert/strict";
import { test as onFile } from "node:test";
import fc from "fast-check";
import { CompiledQuery } from "kysely";
import { makeRequestId } from "#http/routes.ts";
import { readRequests, type RequestFilter, requestsInPages } from "#usage/request-log.ts";
import { anyRequest } from "../support/any-request.ts";
import { noon } from "../support/control.ts";
import { forEachStore as test, storePlace } from "../support/for-each-store.ts";
import {
  openUsageWith,
  putRequests,
  readUsage,
  request,
  type TimedRequest,
} from "../support/usage.ts";

/** What a plain list of all requests says, read from its beginning to its end. */
function naive(all: readonly TimedRequest[], account: number | null, filter: RequestFilter) {
  const { key, operation, statusClass, requestId, since = 0, until = Infinity } = filter;
  return all
    .map((one, number) => ({ one, number }))
    .filter(
      ({ one }) =>
        (account === null || one.account === account) &&
        (key === undefined || one.key === key) &&
        (operation === undefined || one.operation === operation) &&
        (statusClass === undefined || `${Math.floor(one.status / 100)}xx` === statusClass) &&
        (requestId === undefined || one.requestId === requestId) &&
        one.at >= since &&
        one.at < until,
    )
    .toSorted((a, b) => b.one.at - a.one.at || b.number - a.number);
}

const shown = (found: ReturnType<typeof naive>) =>
  found.map(({ one }) => ({ ...one, at: new Date(one.at).toISOString() }));

const batchOfAny = fc.array(fc.record({ step: fc.integer({ min: -3, max: 40 }), ...anyRequest }), {
  minLength: 1,
  maxLength: 120,
});

/** The times are those of one request or another. */
const filterOfAny = fc.record(
  {
    key: fc.constantFrom("key_a", "key_b", "none"),
    operation: fc.constantFrom("fetch-gp", "fetch-signals"),
    statusClass: fc.constantFrom("2xx" as const, "3xx" as const, "4xx" as const, "5xx" as const),
    requestId: fc.constantFrom("mine-1", "mine-2", "none", "req_00000000000000000000000000"),
    since: fc.nat(),
    until: fc.nat(),
  },
  { requiredKeys: [] },
);

test("the log says what a plain list of the same requests says, whatever is asked, while more are written", async (t) => {
  const anything = fc.record({
    batches: fc.array(batchOfAny, { minLength: 2, maxLength: 6 }),
    filters: fc.array(filterOfAny, { minLength: 8, maxLength: 8 }),
    limit: fc.integer({ min: 1, max: 60 }),
  });
  await fc.assert(
    fc.asyncProperty(anything, async ({ batches, filters, limit }) => {
      const place = await storePlace(t);
      const all: TimedRequest[] = [];
      let at = noon;
      const put = async (batch: (typeof batches)[number]) => {
        const requests = batch.map(({ step, id, ...rest }) => {
          at += step;
          const requestId = id === "own" ? makeRequestId(at - Math.max(step, 0)) : id;
          return request({ ...rest, at, requestId });
        });
        all.push(...requests);
        await putRequests(place, requests);
      };
      const late = batches.pop()!;
      for (const batch of batches) await put(batch);
      const timeOf = (i: number | undefined) => i && all[i % all.length]!.at;
      await readUsage(place, async (usage) => {
        const strange = await readRequests(usage, { account: 1, limit: 1 });
        for (const { since, until, ...names } of filters) {
          const filter = { ...names, since: timeOf(since), until: timeOf(until) };
          for (const account of [1, 3, 5]) {
            let last: TimedRequest | undefined;
            let after: string | undefined;
            do {
              const page = await readRequests(usage, { account, filter, limit, after });
              const expected = naive(all, account, filter);
              const rest = expected.slice(expected.findIndex(({ one }) => one === last) + 1);
              assert.deepEqual(page.requests, shown(rest.slice(0, limit)));
              last = rest[limit - 1]?.one;
              after = page.next ?? undefined;
              assert.equal(after !== undefined, rest.length > limit);
              // What comes meanwhile neither shifts nor repeats what follows.
              if (late.length > 0) await put(late.splice(0));
            } while (after !== undefined);
            const turned = { account: 3, filter, limit: 1000, after: strange.next ?? undefined };
            for (const one of (await readRequests(usage, turned)).requests)
              assert.equal(one.account, 3);
          }
        }
        const { since: _since, until: _until, ...names } = filters[0]!;
        const ids = [all[0]!, all.at(-1)!].map(({ requestId }) => requestId);
        for (const requestId of ["mine-1", "none", "req_00000000000000000000000000", ...ids])
          for (const filter of [{ requestId }, { ...names, requestId }])
            for (const account of [null, 1])
              assert.deepEqual(
                (await readRequests(usage, { account, filter, limit: 1000 })).requests,
                shown(naive(all, account, filter)),
              );
      });
    }),
    { numRuns: 20 },
  );
});

test("a page that was never given is the first page", async (t) => {
  const usage = await openUsageWith(t, [[request()]]);
  for (const after of ["", "x", "1", "1-", "'; drop table request; --", "9".repeat(40)])
    assert.equal((await readRequests(usage, { account: 1, limit: 5, after })).requests.length, 1);
});

test("an export gives as many requests as asked for, over as many pages as it takes", async (t) => {
  const requests = Array.from({ length: 2500 }, (_, i) => request({ requestId: String(i) }));
  const usage = await openUsageWith(t, [requests]);
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

onFile("pages are found through the index of accounts, however long the log", async (t) => {
  const usage = await openUsageWith(t, [[request()]]);
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
  const usage = await openUsageWith(t, [
    [request({ requestId: "mine" }), request({ requestId: own })],
  ]);
  const { rows } = await usage.database.executeQuery<Record<string, unknown>>(
    CompiledQuery.raw("select * from requests order by number"),
  );
  const [first, second] = rows.map(({ number: _number, milliseconds, ...row }) => ({
    ...row,
    milliseconds: Number(milliseconds),
  }));
  const { requestId: id, ...sent } = request({ requestId: "mine" });
  assert.deepEqual(first, { ...sent, at: "2026-11-21T12:00:00.000Z", id });
  assert.match(String((second as { id?: unknown }).id), /^01a1fdfa4600[0-9a-f]{20}$/);
});
