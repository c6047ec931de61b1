import assert from "node:assert/strict";
import { test } from "node:test";
import { entriesOf, importRecords, openCurrent, temporaryCatalogue } from "../support/dataset.ts";
import { cast } from "../support/cast.ts";
import { filesOf, gp, imported, rows } from "./published.ts";

const gps = (count: number) => Array.from({ length: count }, (_, i) => gp(`g${i}`));

test("each source is measured by itself, and the demo that the first real one removes is no loss", async (t) => {
  const catalogue = temporaryCatalogue(t);
  await importRecords(catalogue, cast, { source: "demo" });
  const first = await importRecords(catalogue, [gp("a"), gp("b")], { shrinkPercentMax: 0 });
  assert.deepEqual([first.refusal, first.sourceSize], [null, { before: 0, now: 2 }]);
  assert.deepEqual(first.changes, { added: 2, updated: 0, removed: cast.length, unlinked: [] });
  for (const sql of ["select name from source", "select distinct source as name from canonical"])
    assert.deepEqual(rows(catalogue, sql), [{ name: "own" }]);
  const second = await importRecords(catalogue, gps(9), { source: "two", shrinkPercentMax: 0 });
  assert.equal(second.refusal, null);
  const third = await importRecords(catalogue, [gp("a")], { shrinkPercentMax: 40 });
  assert.deepEqual([third.refusal, third.sourceSize], ["shrunk", { before: 2, now: 1 }]);
});

test("a merge that removes too much is refused too", async (t) => {
  const catalogue = await imported(t, gps(4));
  const [entry] = entriesOf([gp("g0")]);
  const deleted = ["g1", "g2", "g3"].map((id) => ({ record: "gp", id }) as const);
  const { refusal } = await importRecords(catalogue, [], {
    entries: [{ ...entry!, records: [], deleted }],
    isMerge: true,
    shrinkPercentMax: 50,
  });
  assert.equal(refusal, "shrunk");
});

test("a source is emptied only where that is allowed, and never because its lines were rejected", async (t) => {
  const catalogue = await imported(t, gps(3));
  await importRecords(catalogue, [gp("x")], { source: "other" });
  const files = filesOf(catalogue);
  const withoutRecords = entriesOf([gp("a")]).map((entry) => ({ ...entry, records: [] }));
  const rejectedMax = { percent: 100 };
  for (const order of [
    { entries: [] },
    { entries: withoutRecords, rejectedMax },
    { entries: entriesOf([gp("!"), gp("?")]), rejectedMax, allowsEmpty: true },
  ])
    assert.equal((await importRecords(catalogue, [], order)).refusal, "empty");
  assert.deepEqual(filesOf(catalogue), files);
  const { published } = await importRecords(catalogue, [], {
    allowsEmpty: true,
    shrinkPercentMax: 50,
  });
  assert.equal(published!.records.gp, 1);
});

test("a dataset may be empty where that is allowed", async (t) => {
  const catalogue = await imported(t, gps(2));
  const { published } = await importRecords(catalogue, [], { allowsEmpty: true });
  assert.deepEqual(published!.records, { gp: 0, principal: 0, signal: 0, project: 0 });
  assert.equal(openCurrent(catalogue).parts.documents.gp.ownLengths.length, 0);
  assert.equal((await importRecords(catalogue, [], { allowsEmpty: true })).outcome, "unchanged");
});
