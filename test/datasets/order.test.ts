import assert from "node:assert/strict";
import { test } from "node:test";
import { importRecords, temporaryCatalogue } from "../support/dataset.ts";
import { documents, gp, imported, principal, project, rows, signal } from "./published.ts";

const names = (records: Record<string, any>[]) => records.map(({ name, title }) => name ?? title);
const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

test("GPs, principals and projects come by folded name, whatever their case and accents, and equal names by id", async (t) => {
  const spellings = ["Zeta", "alpha", "Äther", "ALPINE", "Beta & Co.", "beta", "42 North"];
  const catalogue = await imported(
    t,
    spellings.flatMap((name, i) => [
      gp(`g${i}`, { name }),
      principal(`p${i}`, [], { name }),
      project(`j${i}`, { name }),
    ]),
  );
  const expected = ["42 North", "alpha", "ALPINE", "Äther", "beta", "Beta & Co.", "Zeta"];
  for (const kind of ["gp", "principal", "project"])
    assert.deepEqual(names(documents(catalogue, kind)), expected);
  const same = Array.from({ length: 12 }, (_, i) => gp(`g${i}`, { name: "Same" }));
  const ids = documents(await imported(t, same), "gp").map(({ id }) => id);
  assert.deepEqual(ids, ids.toSorted(byBytes));
});

test("signals come newest first, a day before its month before its year, equal dates by id", async (t) => {
  const dates = [
    "2025",
    "2026",
    "2026-10",
    "2026-10-01",
    "2026-10-31",
    "2026-11",
    "2026-10",
    "0999-12-31",
  ];
  const catalogue = await imported(
    t,
    dates.map((date, i) => signal(`s${i}`, { date })),
  );
  const found = documents(catalogue, "signal");
  assert.deepEqual(
    found.map(({ date }) => date),
    ["2026-11", "2026-10-31", "2026-10-01", "2026-10", "2026-10", "2026", "2025", "0999-12-31"],
  );
  const [one, other] = found.filter(({ date }) => date === "2026-10");
  assert.ok(one!["id"] < other!["id"]);
});

test("order is decided at import: positions run from 0 without a gap, over all sources", async (t) => {
  const catalogue = temporaryCatalogue(t);
  await importRecords(catalogue, [gp("b"), gp("d")], { source: "left" });
  await importRecords(catalogue, [gp("c"), gp("a")], { source: "right" });
  assert.deepEqual(names(documents(catalogue, "gp")), ["a", "b", "c", "d"]);
  assert.deepEqual(
    rows(catalogue, "select position from gp order by position").map((row) => row["position"]),
    [0, 1, 2, 3],
  );
});

test("documents end with gps, and own_length cuts them before what they leave out inside a GP", async (t) => {
  const awkward = 'Zoë 三井 𐌰 "quoted" \\ ,"updated_at":"2020" \u2028';
  const catalogue = await imported(t, [
    gp("a", { name: awkward, tags: [awkward], description: awkward }),
    principal("p", ["a"], { name: awkward, title: awkward }),
    project("x", { name: awkward, gps: ["a"] }),
    signal("s", { title: awkward, summary: awkward, gps: ["a"], project_ids: ["x"] }),
  ]);
  const leftOut: Record<string, string[]> = {
    gp: [],
    principal: ["tags", "themes", "markets", "gps"],
    project: ["gps"],
    signal: ["gps"],
  };
  for (const [kind, members] of Object.entries(leftOut)) {
    const [row] = rows(catalogue, `select own_length, document from ${kind}`);
    const whole = JSON.parse(row!["document"]);
    const own = JSON.parse(
      `${Buffer.from(row!["document"]).toString("utf8", 0, row!["own_length"])}}`,
    );
    assert.equal(Object.keys(own).at(-1), "updated_at");
    assert.deepEqual(Object.keys(whole), [...Object.keys(own), ...members]);
    assert.deepEqual({ ...whole, ...own }, whole);
    assert.equal(own.name ?? own.title, awkward);
  }
});
