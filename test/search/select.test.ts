import assert from "node:assert/strict";
import { test } from "node:test";
import { mintId } from "#datasets/draft-record.ts";
import type { CanonicalRecord } from "#records/canonical.ts";
import { type RecordKind, recordKinds } from "#records/kinds.ts";
import {
  projectStatuses,
  projectTypes,
  propertyTypes,
  signalTypes,
  strategies,
} from "#records/vocabulary.ts";
import { readDocuments } from "#search/dataset-parts.ts";
import { type Filter, filterable, type Order, type ReadModel } from "#search/read-model.ts";
import { awkwardRecords } from "../support/awkward.ts";
import { type Random, seededRandom } from "../support/awkward/random.ts";
import { marketTitles, tagSpellings, themeSpellings } from "../support/awkward/words.ts";
import { cast } from "../support/cast.ts";
import { modelOf } from "../support/dataset.ts";
import { marketSpellings } from "../support/reference.ts";
import {
  type ReferenceDates,
  type ReferenceFilter,
  type ReferenceOrder,
  referenceList,
} from "../support/reference/lists.ts";

const everything = { limit: 1000, offset: 0 };

const idsOf = (model: ReadModel, kind: RecordKind, positions: readonly number[]) =>
  readDocuments<{ id: string }>(model.parts.documents[kind], positions).map(({ id }) => id);

/** Gives signals and projects markets, tags, types and dates of their own. */
function withValues(records: readonly CanonicalRecord[], random: Random): CanonicalRecord[] {
  const { chance, pick, some, below } = random;
  const date = () => {
    const year = pick(["2024", "2025", "2026"]);
    const month = `${year}-${pick(["01", "06", "12"])}`;
    return pick([year, month, `${month}-${pick(["01", "15", "28"])}`]);
  };
  return records.map((record) => {
    if (record.record === "gp" || record.record === "principal") return record;
    const common = {
      ...(chance(0.7) && { market: pick(marketTitles) }),
      ...(chance(0.6) && { tags: some(1 + below(3), tagSpellings.flat()) }),
      ...(chance(0.5) && { themes: some(1 + below(2), themeSpellings.flat()) }),
    };
    return record.record === "signal"
      ? {
          ...record,
          ...common,
          ...(chance(0.8) && { type: pick(signalTypes.slice(0, 4)) }),
          ...(chance(0.5) && { property_types: some(1 + below(2), propertyTypes.slice(0, 5)) }),
        }
      : {
          ...record,
          ...common,
          ...(chance(0.8) && { type: pick(projectTypes) }),
          ...(chance(0.8) && { status: pick(projectStatuses.slice(0, 4)) }),
          ...(chance(0.8) && { property_type: pick(propertyTypes.slice(0, 5)) }),
          ...(chance(0.5) && { strategy: pick(strategies) }),
          ...(chance(0.6) && { start_date: date() }),
          ...(chance(0.6) && { completion_date: date() }),
          ...(chance(0.3) && { first_sale_date: date() }),
        };
  });
}

const askedValues: Readonly<Record<string, readonly string[]>> = {
  market: [...marketTitles.flatMap(marketSpellings), "Nowhere"],
  tag: [...tagSpellings.flat(), ...propertyTypes.slice(0, 3), ...strategies, "none", "–"],
  theme: [...themeSpellings.flat(), "none"],
  property_type: propertyTypes.slice(0, 6),
  type: [...signalTypes.slice(0, 5), ...projectTypes],
  status: projectStatuses.slice(0, 5),
};

const datesAsked = ["date", "start_date", "completion_date", "first_sale_date"];

/** Makes a filter of some conditions of the kind: as the reference reads it, and as the search does. */
function randomFilter(kind: RecordKind, names: readonly string[], random: Random) {
  const { chance, pick } = random;
  const valuesOf = (name: string) => {
    const known = askedValues[name] ?? assert.fail(`Name values of ${name} to ask for.`);
    if (chance(0.3)) return [pick(known), ...(chance(0.4) ? [pick(known)] : [])];
    return chance(0.1) ? [] : undefined;
  };
  const day = () =>
    chance(0.4)
      ? pick(["2024", "2025-06", "2025-06-15", "2026", "1999-11-28", "2026-02"])
      : undefined;
  const reference: ReferenceFilter = {};
  const values: Record<string, readonly string[] | undefined> = {};
  const dates: Record<string, ReferenceDates> = {};
  if (chance(0.3)) reference.gp_name = pick(names);
  for (const [name, { by }] of Object.entries(filterable[kind])) {
    if (Object.hasOwn(askedValues, name)) values[name] = valuesOf(name);
    else if (datesAsked.includes(name) && kind !== "principal")
      dates[name] = chance(0.5) ? { from: day(), to: day() } : {};
    else if (by === "someSignal" && chance(0.5)) {
      const date = { from: day(), to: day() };
      reference.signal = { values: { type: valuesOf("type") }, dates: { date } };
    }
  }
  return { ...reference, values, dates };
}

function asAsked({ values, dates, signal, ...filter }: ReferenceFilter): Filter {
  return { ...filter, ...values, ...dates, ...(signal && { signal: asAsked(signal) }) };
}

const orders: Readonly<Record<ReferenceOrder, Order | undefined>> = {
  usual: undefined,
  name: { by: "name", isDescending: false },
  latest: { by: "signal_date", isDescending: true },
};

for (const kind of recordKinds)
  test(`2,000 random questions for a ${kind} select, order and count what a look at every record does`, async (t) => {
    const random = seededRandom(recordKinds.indexOf(kind));
    const { pick, below, chance } = random;
    const counts = { gps: 70, principals: 60, signals: 110, projects: 80 };
    const records = withValues(awkwardRecords(31, counts), random);
    const model = await modelOf(t, records);
    const idOf = ({ record, id }: CanonicalRecord) => mintId(record, "own", id);
    const gps = records.filter(({ record }) => record === "gp");
    const names = [
      ...gps.flatMap((gp) => ("name" in gp ? gp.name.split(" ").slice(0, 2) : [])),
      idOf(gps[0]!),
      "nobody",
    ];
    let found = 0;
    for (let i = 0; i < 2000; i++) {
      const filter = randomFilter(kind, names, random);
      const order = kind === "gp" ? pick(Object.keys(orders) as ReferenceOrder[]) : "usual";
      const asked = asAsked(filter);
      const bounds = { limit: 1 + below(12), offset: chance(0.7) ? 0 : below(30) };
      const expected = referenceList(records, kind, filter, order, idOf);
      const { total, positions } = model.select(kind, asked, bounds, orders[order]);
      const what = `${order} ${JSON.stringify(asked)}`;
      assert.deepEqual(
        { total, ids: idsOf(model, kind, positions) },
        {
          total: expected.length,
          ids: expected.slice(bounds.offset, bounds.offset + bounds.limit),
        },
        what,
      );
      found += total;
      if (i % 8 !== 0 || kind === "principal") continue;
      const counted = pick(Object.keys(filter.values).filter((name) => askedValues[name]));
      const values = Array.from({ length: 4 }, () => pick(askedValues[counted]!));
      assert.deepEqual(
        model.count(kind, counted, values, asked),
        values.map((value) => {
          const alone = { ...filter, values: { ...filter.values, [counted]: [value] } };
          return referenceList(records, kind, alone, "usual", idOf).length;
        }),
        `${counted} ${values.join()} ${what}`,
      );
    }
    assert.ok(found > 2000, `${found}`);
  });

test("a date that is less precise than a day fits where some day of it would", async (t) => {
  const dates = ["2026-03-31", "2026-03", "2026", "2025-12-31", "2026-04-01"];
  const model = await modelOf(
    t,
    dates.map((date) => ({ record: "signal", id: date, title: date, date })),
  );
  const between = (from?: string, to?: string) =>
    readDocuments<{ date: string }>(
      model.parts.documents.signal,
      model.select("signal", { date: { from, to } }, everything).positions,
    )
      .map(({ date }) => date)
      .toSorted((one, other) => (one < other ? -1 : 1));
  assert.deepEqual(between("2026-03-31", "2026-03-31"), ["2026", "2026-03", "2026-03-31"]);
  assert.deepEqual(between("2026-04"), ["2026", "2026-04-01"]);
  assert.deepEqual(between(undefined, "2025"), ["2025-12-31"]);
  assert.deepEqual(between("2026", "2026"), ["2026", "2026-03", "2026-03-31", "2026-04-01"]);
});

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
    {
      record: "project",
      id: "p",
      name: "P",
      tags: ["serial_file"],
      market: "Boston, MA",
      gps: ["a"],
    },
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
