import assert from "node:assert/strict";
import { test } from "node:test";
import { project } from "../datasets/published.ts";
import { cast } from "../support/cast.ts";
import { modelOf } from "../support/dataset.ts";

const everything = { limit: 1000, offset: 0 };

test("a range finds the same among thousands of dates, of which it keeps sets", async (t) => {
  const dates = Array.from({ length: 3000 }, (_, i) =>
    new Date(Date.UTC(2020, 0, 1 + ((i * 7) % 2000))).toISOString().slice(0, [4, 7, 10][i % 3]!),
  );
  const model = await modelOf(
    t,
    dates.map((date, i) => ({ record: "project", id: `${i}`, name: `P ${i}`, start_date: date })),
  );
  for (const [from, to] of [
    ["2021", undefined],
    [undefined, "2021-05"],
    ["2020-03-05", "2024-01-02"],
    ["2023-07", "2023-07"],
    ["2030", undefined],
  ])
    assert.equal(
      model.select("project", { start_date: { from, to } }, everything).total,
      dates.filter(
        (date) =>
          (from === undefined || date.slice(0, from.length) >= from.slice(0, date.length)) &&
          (to === undefined || date.slice(0, to.length) <= to.slice(0, date.length)),
      ).length,
      `${from} ${to}`,
    );
});

test("a value that no record of the kind carries is missed, with what is near among those of the kind", async (t) => {
  const model = await modelOf(t, [
    { record: "gp", id: "a", name: "Alder", tags: ["serial_filer"], markets: ["Austin, TX"] },
    project("p", { tags: ["serial_file"], market: "Boston, MA", gps: ["a"] }),
  ]);
  const filter = { tag: ["serial_filers"], market: ["bostn"] };
  const { misses } = model.select("project", filter, everything);
  assert.deepEqual(
    misses.map((miss) => [miss.kind, miss.parameter, miss.value, model.suggestionsFor(miss)]),
    [
      ["project", "tag", "serial_filers", ["serial_file"]],
      ["project", "market", "bostn", ["Boston", "Boston, MA"]],
    ],
  );
});

test("a question for what a kind has no condition for is a mistake, not an answer", async (t) => {
  const model = await modelOf(t, cast);
  assert.throws(() => model.select("signal", { status: ["planned"] }, everything), /'status'/);
});

test("other work of the thread goes between the documents that are read, and two may read at once", async (t) => {
  const model = await modelOf(
    t,
    Array.from({ length: 600 }, (_, i) => ({ record: "project", id: `p${i}`, name: `P ${i}` })),
  );
  const filter = { status: ["unknown"] };
  const one = model.prepare("project", filter);
  const other = model.prepare("project", filter);
  let pauses = 0;
  for (; one.next().done !== true; pauses++) other.next();
  assert.ok(pauses >= 3, `${pauses}`);
  assert.equal(model.select("project", filter, everything).total, 600);
  assert.equal([...model.prepare("project", filter)].length, 0);
  assert.equal([...model.prepare("project", { gp_name: "p" })].length, 0);
  const late = (await modelOf(t, cast)).prepare("gp", { signal: { type: ["news"] } });
  assert.equal(late.next().done, false);
});

test("other work goes between the ids that are sorted, once", async (t) => {
  const model = await modelOf(t, cast);
  for (const [kind, by] of [
    ["project", "name"],
    ["gp", "signal_date"],
  ] as const) {
    const order = { by, isDescending: false };
    assert.ok([...model.prepare(kind, {}, order)].length > 100, kind);
    assert.equal([...model.prepare(kind, {}, order)].length, 0);
  }
});
