import assert from "node:assert/strict";
import { test } from "node:test";
import type { Catalogue } from "#datasets/catalogue.ts";
import { compareGenerations, lineOf } from "#datasets/steps.ts";
import { importRecords } from "../support/dataset.ts";
import { day, gp, idOf, imported, principal, signal } from "./published.ts";

/** The changes from the first to the last dataset there is, with the name of each record in its place. */
function changes({ list, pathOf }: Catalogue): any[] {
  const [from, ...others] = list().map(({ version }) => pathOf(version));
  using comparison = compareGenerations(from!, others.at(-1) ?? from!);
  const lines = Array.from(comparison.differences(), (one) =>
    lineOf(one, comparison, { isWhole: true }),
  );
  const order = ["removed", "changed", "added"];
  // Which of two ids comes first says nothing to a reader.
  return lines
    .map((line) => JSON.parse(line))
    .map(({ record, ...line }) => ({ ...line, record: record.name ?? record.title }))
    .toSorted((a, b) =>
      a.kind === b.kind ? order.indexOf(a.change) - order.indexOf(b.change) : 0,
    );
}

test("every record that was added, removed or changed is listed once, with the members that differ", async (t) => {
  const catalogue = await imported(t, [gp("a"), gp("b"), gp("same"), principal("p", ["a"])]);
  const idOfB = idOf(catalogue, "gp", "b");
  await importRecords(catalogue, [signal("s")], { source: "two", nowMilliseconds: day(2) });
  await importRecords(
    catalogue,
    [gp("a", { name: "A", hq_city: "Reno" }), gp("same"), principal("p", ["a"])],
    { nowMilliseconds: day(3) },
  );
  const a = idOf(catalogue, "gp", "a");
  const p = idOf(catalogue, "principal", "p");
  const s = idOf(catalogue, "signal", "s");
  const at = (updated_at: string) => ({ updated_at });
  const [then, now] = [at("2026-11-01T03:00:00Z"), at("2026-11-03T03:00:00Z")];
  assert.deepEqual(changes(catalogue), [
    { change: "removed", kind: "gp", id: idOfB, record: "b" },
    {
      change: "changed",
      kind: "gp",
      id: a,
      before: { name: "a", hq_city: null, ...then },
      after: { name: "A", hq_city: "Reno", ...now },
      record: "A",
    },
    {
      change: "changed",
      kind: "principal",
      id: p,
      before: { gps: [{ id: a, name: "a" }], ...then },
      after: { gps: [{ id: a, name: "A" }], ...now },
      record: "p",
    },
    { change: "added", kind: "signal", id: s, record: "s" },
  ]);
});

test("a time that a source states anew is a change by itself", async (t) => {
  const at = (updated_at: string) => [gp("a", { updated_at })];
  const catalogue = await imported(t, at("2026-01-01T00:00:00Z"), at("2026-02-01T00:00:00Z"));
  const [{ before, after }] = changes(catalogue);
  assert.deepEqual(before, { updated_at: "2026-01-01T00:00:00Z" });
  assert.deepEqual(after, { updated_at: "2026-02-01T00:00:00Z" });
});
