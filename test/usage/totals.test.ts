import assert from "node:assert/strict";
import { test as testOnce, type TestContext } from "node:test";
import {
  exportMonth,
  type ExportPart,
  type Bar,
  readBars,
  readDaysByKey,
  readTotalsBy,
  type Span,
} from "#usage/totals.ts";
import { isMonth, monthAfter } from "#store/durations.ts";
import { day, hour, minute, noon } from "../support/control.ts";
import { forEachStore as test } from "../support/for-each-store.ts";
import { openUsageWith, request, type TimedRequest } from "../support/usage.ts";

const fromNoon: Span = { account: 1, since: noon, until: noon + hour };

const usageOf = (t: TestContext, ...chunks: (readonly TimedRequest[])[]) =>
  openUsageWith(t, chunks, false);

const shown = (bars: readonly Bar[]) =>
  bars.filter(({ requests }) => requests > 0).map(({ at, requests }) => `${at} ${requests}`);

test("the last 24 hours are 24 bars, empty ones among them, each status in its class", async (t) => {
  const statuses = [200, 200, 304, 400, 429, 429, 503];
  const usage = await usageOf(
    t,
    statuses.map((status) => request({ status, at: noon - 3 * hour + 1 })),
    [request({ at: noon - 23 * hour }), request({ at: noon - 23 * hour - 1 })],
  );
  const now = noon + 59 * minute;
  const bars = await readBars(usage, { account: 1, unit: "hour", count: 24, now });
  assert.equal(bars.length, 24);
  for (const [i, bar] of bars.entries())
    assert.equal(bar.at, new Date(noon - (23 - i) * hour).toISOString());
  assert.deepEqual(shown(bars), ["2026-11-20T13:00:00.000Z 1", "2026-11-21T09:00:00.000Z 7"]);
  assert.deepEqual(bars[20], {
    at: "2026-11-21T09:00:00.000Z",
    requests: 7,
    bytes: 7000,
    milliseconds: 8.75,
    byClass: { "2xx": 2, "3xx": 1, "4xx": 3, "5xx": 1 },
    overQuota: 2,
  });
});

test("the last 30 days are 30 bars of UTC", async (t) => {
  const midnight = noon - 12 * hour;
  const usage = await usageOf(t, [
    request({ at: midnight - 1 }),
    request({ at: midnight }),
    request({ at: midnight + day - 1 }),
    request({ at: midnight - 29 * day }),
    request({ at: midnight - 29 * day - 1 }),
  ]);
  const bars = await readBars(usage, { account: 1, unit: "day", count: 30, now: noon });
  assert.equal(bars.length, 30);
  assert.deepEqual(shown(bars), [
    "2026-10-23T00:00:00.000Z 1",
    "2026-11-20T00:00:00.000Z 1",
    "2026-11-21T00:00:00.000Z 2",
  ]);
});

test("requests of many chunks and of a restart add up in one hour", async (t) => {
  const usage = await usageOf(t, [request()], [request(), request()], [request({ at: noon + 1 })]);
  const totals = (await readTotalsBy(usage, fromNoon, "key"))[0]![1];
  assert.deepEqual([totals.requests, totals.bytes, totals.milliseconds], [4, 4000, 5]);
});

test("totals by key and by operation begin with those of most requests", async (t) => {
  const usage = await usageOf(t, [
    request({ key: "key_a", operation: "fetch-gp" }),
    request({ key: "key_b", operation: "fetch-gp", status: 429 }),
    request({ key: "key_b", operation: "fetch-signals" }),
    request({ key: "key_b", operation: "fetch-signals" }),
    request({ key: "key_b", operation: "fetch-signals", at: noon - hour }),
  ]);
  const span = { account: 1, since: noon + 1, until: noon + 2 };
  const byKey = await readTotalsBy(usage, span, "key");
  assert.deepEqual(
    byKey.map(([key, { requests, overQuota }]) => [key, requests, overQuota]),
    [
      ["key_b", 3, 1],
      ["key_a", 1, 0],
    ],
  );
  const byOperation = await readTotalsBy(usage, span, "operation");
  assert.deepEqual(
    byOperation.map(([operation, { requests }]) => [operation, requests]),
    // Of as many requests, in the order of the names.
    [
      ["fetch-gp", 2],
      ["fetch-signals", 2],
    ],
  );
});

test("the days of a key begin at midnight of UTC, and today is the last", async (t) => {
  const midnight = noon - 12 * hour;
  const usage = await usageOf(t, [
    request({ key: "key_a", at: midnight - 1 }),
    request({ key: "key_a", at: midnight }),
    request({ key: "key_b", at: noon }),
    request({ key: "key_b", at: noon, status: 400 }),
    request({ key: "key_c", at: midnight - 1 }),
  ]);
  const days = await readDaysByKey(usage, { account: 1, count: 2, now: noon });
  assert.deepEqual(Object.fromEntries(days), { key_a: [1, 1], key_b: [0, 2], key_c: [1, 0] });
});

test("an account never sees what another one asked", async (t) => {
  const usage = await usageOf(t, [request({ account: 1 }), request({ account: 2, key: "key_b" })]);
  const byKey = await readTotalsBy(usage, fromNoon, "key");
  const counts = byKey.map(([key, { requests }]) => [key, requests]);
  assert.deepEqual(counts, [["key_a", 1]]);
  assert.equal((await readTotalsBy(usage, fromNoon, "operation"))[0]![1].requests, 1);
  const days = await readDaysByKey(usage, { account: 1, count: 1, now: noon });
  assert.deepEqual([...days.keys()], ["key_a"]);
  const bars = await readBars(usage, { account: 3, unit: "hour", count: 24, now: noon });
  assert.deepEqual(shown(bars), []);
});

const at = (text: string) => Date.parse(text);

test("a month is added up by what is to be told apart, from its first to its last millisecond", async (t) => {
  const usage = await usageOf(t, [
    request({ at: at("2026-10-31T23:59:59.999Z") }),
    request({ at: at("2026-11-01T00:00:00Z"), key: "key_c" }),
    request({ at: at("2026-11-15T12:00:00Z"), operation: "fetch-signals" }),
    request({ at: at("2026-11-15T12:00:00Z"), operation: "fetch-signals", status: 429 }),
    request({ at: at("2026-11-30T23:59:59.999Z"), account: 2, key: "key_b" }),
    request({ at: at("2026-12-01T00:00:00Z"), account: 2, key: "key_b" }),
  ]);
  const exported = async (by: readonly ExportPart[]) =>
    (await exportMonth(usage, { month: "2026-11", by })).map(
      ({ account: number, operation, key, totals }) =>
        `${number} ${operation} ${key} ${totals.requests}`,
    );
  assert.deepEqual(await exported(["account"]), ["1 null null 3", "2 null null 1"]);
  assert.deepEqual(await exported(["operation"]), [
    "null fetch-gp null 2",
    "null fetch-signals null 2",
  ]);
  assert.deepEqual(await exported(["key", "account"]), [
    "1 null key_a 2",
    "1 null key_c 1",
    "2 null key_b 1",
  ]);
  assert.deepEqual(await exported(["account", "operation", "key"]), [
    "1 fetch-gp key_c 1",
    "1 fetch-signals key_a 2",
    "2 fetch-gp key_b 1",
  ]);
  assert.deepEqual(await exported([]), ["null null null 4"]);
});

testOnce("a month is a year and one of its twelve months", () => {
  for (const text of ["2026-01", "2026-12", "0001-10"]) assert.equal(isMonth(text), true, text);
  for (const text of ["2026-00", "2026-13", "2026-1", "26-01", "2026-01-01", "0000-01", "x"])
    assert.equal(isMonth(text), false, text);
  assert.deepEqual(["2026-01", "2026-11", "2026-12"].map(monthAfter), [
    "2026-02",
    "2026-12",
    "2027-01",
  ]);
});
