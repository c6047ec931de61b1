import assert from "node:assert/strict";
import { test } from "node:test";
import type { Catalogue } from "#datasets/catalogue.ts";
import { diffGenerations, openChangeCounts } from "#datasets/diff.ts";
import type { ChangeKind } from "#records/publication.ts";
import { cast } from "../support/cast.ts";
import { importRecords } from "../support/dataset.ts";
import { day, gp, idOf, imported, principal, signal } from "./published.ts";

/** The changes from the first to the last dataset there is. */
function changes(catalogue: Catalogue) {
  const sides = catalogue
    .list()
    .map((generation) => ({ generation, path: catalogue.pathOf(generation.version) }));
  const order = ["removed", "changed", "added"];
  // Which of two ids comes first says nothing to a reader.
  return [...diffGenerations(sides[0]!, sides.at(-1)!)].toSorted((a, b) =>
    a.record === b.record ? order.indexOf(a.change) - order.indexOf(b.change) : 0,
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
  const link = (name: string) => [{ id: a, name }];
  const own = { source: "own" };
  assert.deepEqual(changes(catalogue), [
    { change: "removed", record: "gp", id: idOfB, ...own, name: "b" },
    {
      change: "changed",
      record: "gp",
      id: a,
      ...own,
      name: "A",
      members: { name: { from: "a", to: "A" }, hq_city: { from: null, to: "Reno" } },
    },
    {
      change: "changed",
      record: "principal",
      id: idOf(catalogue, "principal", "p"),
      ...own,
      name: "p",
      members: { gps: { from: link("a"), to: link("A") } },
    },
    {
      change: "added",
      record: "signal",
      id: idOf(catalogue, "signal", "s"),
      source: "two",
      name: "s",
    },
  ]);
});

test("a time that a source states anew is a change by itself", async (t) => {
  const at = (updated_at: string) => [gp("a", { updated_at })];
  const catalogue = await imported(t, at("2026-01-01T00:00:00Z"), at("2026-02-01T00:00:00Z"));
  assert.deepEqual(changes(catalogue)[0]!.members, {
    updated_at: { from: "2026-01-01T00:00:00Z", to: "2026-02-01T00:00:00Z" },
  });
});

test("a dataset does not differ from itself, and from another by what the import between them counted", async (t) => {
  const catalogue = await imported(t, cast);
  assert.deepEqual(changes(catalogue), []);
  const records = [
    ...cast.slice(3).map((record) => ({ ...record, tags: ["qof", "new"] })),
    gp("another"),
  ];
  const { changes: counted } = await importRecords(catalogue, records, {
    nowMilliseconds: day(2),
    rejectedMax: { percent: 100 },
  });
  const counts = openChangeCounts();
  for (const change of changes(catalogue)) counts.add(change);
  const sum = (kind: ChangeKind) => counts.rows().reduce((total, row) => total + row[kind], 0);
  assert.deepEqual(
    { added: sum("added"), updated: sum("changed"), removed: sum("removed") + sum("merged") },
    counted,
  );
  assert.ok(counted.added > 0 && counted.updated > 0 && counted.removed > 0);
});
