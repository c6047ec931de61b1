/** Days as text. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { dayOf, dayText, lastDay, recentDay, roughDay, someTime } from "#demo/dates.ts";
import { startRandom } from "#demo/random.ts";

test("the last day is 20 November 2026, and recent days lie before it", () => {
  assert.equal(dayText(lastDay), "2026-11-20");
  const random = startRandom(1, "test");
  for (let count = 0; count < 1000; count++) {
    const day = recentDay(random, 100);
    assert.ok(day <= lastDay && day > lastDay - 100);
  }
});

test("a rough day is the beginning of its day", () => {
  const random = startRandom(1, "test");
  const seen = new Set<string>();
  for (let count = 0; count < 100; count++) seen.add(roughDay(random, dayOf(2024, 2, 29)));
  assert.deepEqual(
    [...seen].toSorted((a, b) => a.length - b.length),
    ["2024", "2024-02", "2024-02-29"],
  );
});

test("a time is one of the day", () => {
  const random = startRandom(1, "test");
  for (let count = 0; count < 1000; count++) {
    const time = someTime(random, dayOf(2026, 3, 1));
    assert.match(time, /^2026-03-01T/);
    assert.equal(new Date(time).toISOString(), time.replace("Z", ".000Z"));
  }
});
