import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Catalogue } from "#datasets/catalogue.ts";
import type { RecordName, SourceEntry } from "#records/canonical.ts";
import { cast } from "../support/cast.ts";
import {
  entriesOf,
  type ImportOptions,
  importRecords,
  temporaryCatalogue,
} from "../support/dataset.ts";
import {
  day,
  documentOf,
  filesOf,
  gp,
  imported,
  principal,
  project,
  rows,
  signal,
} from "./published.ts";

const file = "delta.ndjson";

/** Merges these records into source "own", and removes those, on lines of their own after them. */
const merge = (
  catalogue: Catalogue,
  records: readonly unknown[],
  deleted: readonly RecordName[] = [],
  options: ImportOptions = {},
) =>
  importRecords(catalogue, [], {
    entries: [
      ...entriesOf(records, file),
      ...deleted.map((name, i) => ({
        file,
        line: records.length + i + 1,
        records: [],
        namedGps: [],
        deleted: [name],
        faults: [],
      })),
    ],
    isMerge: true,
    nowMilliseconds: day(20),
    ...options,
  });

const sourceIds = (catalogue: Catalogue) =>
  rows(catalogue, "select source_id from canonical order by kind, source_id").map(
    ({ source_id }) => source_id,
  );

test("a merge replaces and adds what it names and leaves everything else of the source as it was", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const former = [gp("a"), gp("b"), principal("p", ["a"]), project("x", { gps: ["b"] })];
  await importRecords(catalogue, former, { nowMilliseconds: day(1) });
  await importRecords(catalogue, [gp("a")], { source: "other", nowMilliseconds: day(2) });
  const { changes, sourceSize } = await merge(catalogue, [
    gp("b", { hq_city: "Reno" }),
    signal("s", { gps: ["a"], project_ids: ["x"] }),
  ]);
  assert.deepEqual(changes, { added: 1, updated: 1, removed: 0, unlinked: [] });
  assert.deepEqual(sourceSize, { before: 4, now: 5 });
  assert.equal(documentOf(catalogue, "gp", "b")["hq_city"], "Reno");
  assert.deepEqual(sourceIds(catalogue), ["a", "a", "b", "p", "x", "s"]);
  assert.equal(documentOf(catalogue, "principal", "p")["updated_at"], "2026-11-01T03:00:00Z");
});

test("however a source is delivered, whole or in parts, the dataset is the same", async (t) => {
  const whole = temporaryCatalogue(t);
  const { published } = await importRecords(whole, cast);
  const part = fc.array(fc.constantFrom(...cast.keys()), { maxLength: cast.length });
  await fc.assert(
    fc.asyncProperty(part, async (changed) => {
      const isChanged = new Set(changed);
      const title = (record: any) => ({
        ...record,
        [record.record === "signal" ? "title" : "name"]: "Old",
      });
      const catalogue = await imported(
        t,
        cast.map((record, i) => (isChanged.has(i) ? title(record) : record)),
      );
      await merge(
        catalogue,
        cast.filter((_, i) => isChanged.has(i)),
      );
      assert.equal(catalogue.current()!.hash, published!.hash);
    }),
    { numRuns: 8, seed: 5 },
  );
});

test("the same merge twice publishes nothing, though what it removes is not there any more", async (t) => {
  const catalogue = await imported(t, [gp("a"), gp("b"), principal("p", ["a"])]);
  const again = () => merge(catalogue, [gp("c")], [{ record: "gp", id: "b" }]);
  const first = await again();
  assert.deepEqual(first.changes, { added: 1, updated: 0, removed: 1, unlinked: [] });
  assert.equal(first.collected.absent.count, 0);
  const before = filesOf(catalogue);
  const second = await again();
  assert.equal(second.outcome, "unchanged");
  assert.deepEqual(second.collected.absent.listed, [
    {
      file,
      line: 2,
      field: "id",
      reason: "'b' names no gp of this source, so there is nothing to remove",
      count: 1,
    },
  ]);
  assert.deepEqual(filesOf(catalogue), before);
});

test("a record that others still link to is not removed, and one of them is named", async (t) => {
  const former = [
    gp("a"),
    gp("b"),
    project("x", { gps: ["a"] }),
    signal("s", { project_ids: ["x"] }),
    signal("t", { project_ids: ["x"] }),
  ];
  const catalogue = await imported(t, former);
  const names: RecordName[] = [
    { record: "gp", id: "a" },
    { record: "project", id: "x" },
    { record: "signal", id: "t" },
  ];
  const { collected, changes } = await merge(catalogue, [], names, { rejectedMax: { lines: 2 } });
  const stillNamed = (what: string, by: string) =>
    `${what} cannot be removed while other records name it: ${by}; remove or change these records too`;
  assert.deepEqual(
    collected.rejections.listed.map(({ line, field, reason }) => [line, field, reason]),
    [
      [1, "deleted", stillNamed("gp 'a'", "project 'x'")],
      [2, "deleted", stillNamed("project 'x'", "signal 's'")],
    ],
  );
  assert.deepEqual([collected.read, collected.accepted], [3, 1]);
  assert.deepEqual(changes, { added: 0, updated: 0, removed: 1, unlinked: [] });
  const rest = [...names, { record: "signal", id: "s" } as const];
  assert.equal((await merge(catalogue, [], rest)).collected.rejections.count, 0);
  assert.deepEqual(sourceIds(catalogue), ["b"]);
});

test("a line with a blocked removal is left out with all that it brings and removes", async (t) => {
  const catalogue = await imported(t, [gp("a"), gp("b"), gp("c"), project("x", { gps: ["b"] })]);
  const named = { record: "gp", id: "named:d", name: "d" } as const;
  const [first, ...rest] = entriesOf([
    project("y", { gps: ["named:d"] }),
    signal("s", { project_ids: ["y"] }),
    signal("t", { gps: ["c"] }),
  ]);
  const removing = { namedGps: [named], deleted: ["a", "b"].map((id) => ({ record: "gp", id })) };
  const entries = [{ ...first!, ...removing }, ...rest] as SourceEntry[];
  const merging = { entries, rejectedMax: { lines: 2 } };
  const { collected, changes } = await merge(catalogue, [], [], merging);
  assert.deepEqual(
    collected.rejections.listed.map(({ line, field }) => [line, field]),
    [
      [1, "deleted"],
      [2, "project_ids"],
    ],
  );
  assert.deepEqual([collected.accepted, collected.absent.count], [1, 0]);
  assert.deepEqual(changes, { added: 1, updated: 0, removed: 0, unlinked: [] });
});

test("what a rejected line was to replace or remove stays as it was", async (t) => {
  const catalogue = await imported(t, [gp("a"), gp("b"), principal("p", ["a"]), project("x")]);
  const records = [
    gp("b", { aum_usd: -1 }),
    principal("p", ["nobody"], { title: "Partner" }),
    principal("q", ["b"]),
  ];
  const deleted: RecordName[] = [{ record: "project", id: "x" }];
  const entries = entriesOf(records).map((one) => (one.line === 2 ? { ...one, deleted } : one));
  const options = { entries, rejectedMax: { lines: 2 } };
  const { collected, changes } = await merge(catalogue, [], [], options);
  assert.deepEqual(
    collected.rejections.listed.map(({ line, field }) => [line, field]),
    [
      [1, "aum_usd"],
      [2, "gps"],
    ],
  );
  assert.deepEqual(changes, { added: 1, updated: 0, removed: 0, unlinked: [] });
  assert.equal(documentOf(catalogue, "principal", "p")["title"], null);
});

test("two lines for one record are refused, whichever of them removes it", async (t) => {
  const catalogue = await imported(t, [gp("a"), gp("b")]);
  const { collected } = await merge(
    catalogue,
    [gp("a"), gp("a")],
    [
      { record: "gp", id: "a" },
      { record: "gp", id: "b" },
      { record: "gp", id: "b" },
    ],
  );
  assert.deepEqual(
    collected.rejections.listed.map(({ line, reason }) => [line, reason]),
    [
      [2, "'a' is also the id of the gp at delta.ndjson:1"],
      [3, "'a' is also the id of the gp at delta.ndjson:1"],
      [5, "'b' is also the id of the gp at delta.ndjson:4"],
    ],
  );
});

test("a removal without a merge is rejected, for a delivery of the whole source leaves records out", async (t) => {
  const catalogue = await imported(t, [gp("a"), gp("b")]);
  const { outcome, collected } = await merge(catalogue, [gp("b")], [{ record: "gp", id: "a" }], {
    isMerge: false,
  });
  assert.equal(outcome, "refused");
  assert.match(collected.rejections.listed[0]!.reason, /^is allowed only with --merge/);
});

test("a merge into nothing is an import, and only its removals have nothing to do", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const { published, collected } = await merge(
    catalogue,
    [gp("a"), principal("p", ["a"])],
    [{ record: "gp", id: "b" }],
  );
  assert.equal(published!.records.gp, 1);
  assert.equal(collected.absent.count, 1);
});

test("GPs that rows only name go with the last row that named them, and keep the spelling they had", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const row = (id: string, line: number, name: string): SourceEntry => {
    const named = `named:${name.toLowerCase()}`;
    const [entry] = entriesOf([project(id, { gps: [named] })], file);
    return { ...entry!, line, namedGps: [{ record: "gp", id: named, name }] };
  };
  const mergeRows = (...entries: SourceEntry[]) =>
    importRecords(catalogue, [], { entries, isMerge: true });
  await mergeRows(row("x", 1, "Birch"), row("y", 2, "Cedar"));
  await mergeRows(row("x", 1, "CEDAR"), row("z", 2, "Dune"));
  assert.deepEqual(
    rows(catalogue, "select json_extract(document, '$.name') as name from gp order by 1"),
    [{ name: "Cedar" }, { name: "Dune" }],
  );
});

test("GPs that became one stay so in a merge, whichever of their ids it uses", async (t) => {
  const catalogue = await imported(t, [gp("a"), gp("b"), principal("p", ["b"])]);
  const { id: idOfB } = documentOf(catalogue, "gp", "b");
  await assert.rejects(
    merge(catalogue, [gp("a", { former_ids: ["b"] })]),
    /Former ids merge GPs .* into one GP, gp_\w{16}, .*Leave all but one of them out/,
  );
  await merge(
    catalogue,
    [gp("a", { former_ids: [idOfB] }), principal("p", ["a"])],
    [{ record: "gp", id: "b" }],
  );
  const { id, former_ids } = documentOf(catalogue, "gp", "a");
  await merge(catalogue, [signal("s", { gps: ["a"] })]);
  assert.deepEqual(documentOf(catalogue, "signal", "s")["gps"], [{ id, name: "a" }]);
  assert.deepEqual(documentOf(catalogue, "gp", "a")["former_ids"], former_ids);
  assert.ok([id, ...former_ids].includes(idOfB));
});
