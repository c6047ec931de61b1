import assert from "node:assert/strict";
import { test } from "node:test";
import type { SourceEntry } from "#records/canonical.ts";
import { entriesOf, importRecords, temporaryCatalogue } from "../support/dataset.ts";
import {
  documentOf,
  gp,
  idOf,
  imported,
  importEntries,
  principal,
  project,
  rows,
  signal,
} from "./published.ts";

const lenient = { lines: 100 };

/** Why a line is rejected that names this record. */
const missing = (what: string) =>
  `names ${what}, which this source does not have, or which was rejected`;

/** A row of a table: its records, and GPs it only names. */
const row = (line: number, records: object[], named: string[] = []): SourceEntry => ({
  file: "table.csv",
  line,
  records: records as SourceEntry["records"],
  namedGps: named.map((id) => gp(id)) as SourceEntry["namedGps"],
  faults: [],
});

test("a link finds its target wherever it stands: before, after, in another file", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const entries = [
    ...entriesOf([signal("s", { gps: ["a", "b"], project_ids: ["p"] }), gp("b")], "one.ndjson"),
    ...entriesOf([project("p", { gps: ["a"] }), gp("a")], "two.ndjson"),
  ];
  const { published } = await importEntries(catalogue, entries);
  assert.notEqual(published, null);
  const s = documentOf(catalogue, "signal", "s");
  assert.deepEqual(s["project_ids"], [idOf(catalogue, "project", "p")]);
  assert.deepEqual(s["gps"], [
    { id: idOf(catalogue, "gp", "a"), name: "a" },
    { id: idOf(catalogue, "gp", "b"), name: "b" },
  ]);
});

test("a principal inherits each tag, theme and market of its GPs once, in the order in which it names them", async (t) => {
  const lists = (...values: string[]) => ({ tags: values, themes: values, markets: values });
  const gps = [gp("a", lists("1", "2")), gp("b", lists("3", "1"))];
  const catalogue = await imported(t, [...gps, principal("p", ["b", "a", "b"])]);
  const { tags, themes, markets, gps: links } = documentOf(catalogue, "principal", "p");
  assert.deepEqual({ tags, themes, markets }, lists("3", "1", "2"));
  assert.equal(links.length, 2);
});

test("a link to a missing record, or one of another kind, rejects the line and says which", async (t) => {
  const records = [
    gp("a"),
    principal("p", ["a", "gone"]),
    project("x", { gps: ["lost"] }),
    signal("s", { gps: ["a"], project_ids: ["none"] }),
    project("y"),
    principal("q", ["y"]),
  ];
  const { collected, outcome } = await importRecords(temporaryCatalogue(t), records);
  assert.equal(outcome, "refused");
  assert.deepEqual(
    collected.rejections.listed.map(({ line, field, reason }) => [line, field, reason]),
    [
      [2, "gps", missing("gp 'gone'")],
      [3, "gps", missing("gp 'lost'")],
      [4, "project_ids", missing("project 'none'")],
      [6, "gps", missing("gp 'y'")],
    ],
  );
  assert.deepEqual([collected.read, collected.accepted, collected.rejections.count], [6, 2, 4]);
});

test("links resolve within the source only", async (t) => {
  const catalogue = temporaryCatalogue(t);
  await importRecords(catalogue, [gp("a"), gp("b")], { source: "other" });
  const alone = await importRecords(catalogue, [principal("p", ["a"])]);
  assert.equal(alone.outcome, "refused");
  await importRecords(catalogue, [gp("a", { name: "its own" }), principal("p", ["a"])]);
  assert.deepEqual(
    documentOf(catalogue, "principal", "p")["gps"].map(({ name }: { name: string }) => name),
    ["its own"],
  );
});

test("rejections cascade: whatever names a rejected record is rejected too", async (t) => {
  const records = [
    gp("a"),
    signal("s", { gps: ["a"], project_ids: ["x"] }),
    project("x", { gps: ["b"] }),
    signal("stays", { gps: ["a"] }),
    principal("p", ["b"]),
    gp("b", { aum_usd: -1 }),
  ];
  for (const order of [records, records.toReversed()]) {
    const catalogue = temporaryCatalogue(t);
    const { collected } = await importRecords(catalogue, order, { rejectedMax: lenient });
    assert.equal(collected.rejections.count, 4);
    assert.equal(collected.accepted, 2);
    assert.deepEqual(
      collected.rejections.listed.map(({ field, reason }) => `${field} ${reason}`).toSorted(),
      [
        "aum_usd must be at least 0",
        `gps ${missing("gp 'b'")}`,
        `gps ${missing("gp 'b'")}`,
        `project_ids ${missing("project 'x'")}`,
      ],
    );
    assert.deepEqual(rows(catalogue, "select source_id from canonical order by 1"), [
      { source_id: "a" },
      { source_id: "stays" },
    ]);
  }
});

test("a rejected row is left out whole, with all its records", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const entries = [
    row(2, [gp("a")]),
    row(3, [
      project("x"),
      signal("s", { gps: ["a"], project_ids: ["x"] }),
      principal("p", ["gone"]),
    ]),
    row(4, [signal("u", { project_ids: ["x"] })]),
  ];
  const { collected } = await importEntries(catalogue, entries, lenient);
  const lines = collected.rejections.listed.map(({ line }) => line);
  assert.deepEqual(lines, [3, 4]);
  assert.deepEqual(rows(catalogue, "select source_id from canonical"), [{ source_id: "a" }]);
});

test("a GP that rows only name is there once, and gone with the last row that names it", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const dangling = (id: string, gps: string[]) => signal(id, { gps, project_ids: ["gone"] });
  const entries = [
    row(2, [dangling("s2", ["both", "lost"])], ["both", "lost"]),
    row(3, [signal("s3", { gps: ["both", "kept"] })], ["both", "kept"]),
    row(4, [dangling("s4", ["lost"])], ["lost"]),
    row(5, [], ["kept", "alone", "alone"]),
  ];
  await importEntries(catalogue, entries, lenient);
  assert.deepEqual(
    rows(catalogue, "select source_id from canonical where kind = 'gp' order by 1"),
    [{ source_id: "alone" }, { source_id: "both" }, { source_id: "kept" }],
  );
});

test("a GP that a row only names gives way to the record of that GP in the same row or before", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const entries = [
    row(2, [gp("a", { website: "https://a.example" })], ["a"]),
    row(3, [signal("s", { gps: ["a"] })], ["a"]),
  ];
  await importEntries(catalogue, entries);
  assert.equal(documentOf(catalogue, "gp", "a")["website"], "https://a.example");
});

test("of thousands of rejections all are counted and a thousand are listed", async (t) => {
  const lost = Array.from({ length: 3000 }, (_, i) => signal(`s${i}`, { gps: ["gone"] }));
  const { collected } = await importRecords(temporaryCatalogue(t), lost);
  assert.equal(collected.rejections.count, 3000);
  assert.equal(collected.rejections.listed.length, 1000);
});
