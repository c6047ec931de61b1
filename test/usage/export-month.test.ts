import assert from "node:assert/strict";
import { type TestContext, test as testOnce } from "node:test";
import { openUsage } from "#store/stores.ts";
import { isMonth, monthAfter } from "#store/durations.ts";
import { type ExportPart, exportMonth } from "#usage/totals.ts";
import { forEachStore as test, storePlace } from "../support/for-each-store.ts";
import { putRequests, request } from "../support/usage.ts";

const at = (text: string) => Date.parse(text);

async function usageOfTwoMonths(t: TestContext) {
  const place = await storePlace(t);
  await putRequests(place, [
    request({ at: at("2026-10-31T23:59:59.999Z") }),
    request({ at: at("2026-11-01T00:00:00Z"), key: "key_c" }),
    request({ at: at("2026-11-15T12:00:00Z"), operation: "fetch-signals" }),
    request({ at: at("2026-11-15T12:00:00Z"), operation: "fetch-signals", status: 429 }),
    request({ at: at("2026-11-30T23:59:59.999Z"), account: 2, key: "key_b" }),
    request({ at: at("2026-12-01T00:00:00Z"), account: 2, key: "key_b" }),
  ]);
  const usage = await openUsage(place.dataDir, place);
  t.after(() => usage.close());
  return async (by: readonly ExportPart[], account?: number) =>
    (await exportMonth(usage, { month: "2026-11", by, account })).map(
      ({ account: number, operation, key, totals }) =>
        `${number} ${operation} ${key} ${totals.requests}`,
    );
}

test("a month is added up by what is to be told apart, from its first to its last millisecond", async (t) => {
  const exported = await usageOfTwoMonths(t);
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

test("an export for one account has nothing of another", async (t) => {
  const exported = await usageOfTwoMonths(t);
  assert.deepEqual(await exported(["account", "key"], 2), ["2 null key_b 1"]);
  assert.deepEqual(await exported(["account"], 3), []);
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
