import assert from "node:assert/strict";
import { test } from "node:test";
import { browse } from "#search/browse.ts";
import { facetNames } from "#search/dataset-parts.ts";
import { readDocuments } from "#search/documents.ts";
import type { ReadModel } from "#search/read-model.ts";
import { awkwardRecords } from "../support/awkward.ts";
import { cast } from "../support/cast.ts";
import { modelOf } from "../support/dataset.ts";

const everything = { limit: 1000, offset: 0 };
const namesOf = (model: ReadModel, positions: readonly number[]) =>
  readDocuments<{ name: string }>(model.parts.documents.gp, positions).map(({ name }) => name);
const titlesOf = (model: ReadModel, positions: readonly number[]) =>
  readDocuments<{ title: string }>(model.parts.documents.signal, positions).map(
    ({ title }) => title,
  );

for (const [what, records] of [
  ["the cast", cast],
  ["awkward records", awkwardRecords(7, { gps: 60, principals: 10, signals: 60, projects: 10 })],
] as const)
  test(`every value of ${what} is counted as a query for it counts, alone and with any other`, async (t) => {
    const model = await modelOf(t, records);
    const { gps, values } = browse(model.parts);
    const others = [
      {},
      { name: "partners" },
      ...facetNames.flatMap((name) =>
        values[name].slice(0, 8).map((value) => ({ [name]: [value] })),
      ),
    ];
    for (const name of facetNames)
      for (const other of others) {
        const counts = gps.count(name, values[name], other);
        const asked = values[name].map((value) => ({ ...other, [name]: [value] }));
        assert.deepEqual(
          counts,
          asked.map((filter) => model.selectGps(filter, everything).total),
        );
      }
  });

test("every tag, theme and market that a GP carries can be chosen", async (t) => {
  const model = await modelOf(t, cast);
  const { values } = browse(model.parts);
  assert.deepEqual(values.market.toSorted(), [
    "Asia-Pacific",
    "Dallas, TX",
    "New York, NY",
    "Winston-Salem, NC",
  ]);
  assert.deepEqual(values.tag.toSorted(), [
    "ai",
    "core",
    "multifamily",
    "qof",
    "reg_d_506c",
    "retail",
    "serial_filer",
    "value_add",
  ]);
  assert.deepEqual(values.theme.toSorted(), ["build_to_rent", "opportunity_zones"]);
});

test("a market is called by its first city and state, unless another answers to them too", async (t) => {
  const titles = [
    "Nashville-Davidson--Murfreesboro--Franklin, TN",
    "Columbus-Auburn, GA-AL",
    "Columbus, GA-AL",
    "Louisville/Jefferson County, KY-IN",
    "Asia-Pacific",
  ];
  const model = await modelOf(
    t,
    titles.map((title) => ({ record: "gp", id: title, name: title, markets: [title] })),
  );
  const { nameOfMarket } = browse(model.parts);
  assert.deepEqual(titles.map(nameOfMarket), [
    "Nashville, TN",
    "Columbus-Auburn, GA-AL",
    "Columbus, GA-AL",
    "Louisville/Jefferson County, KY",
    "Asia-Pacific",
  ]);
});

test("GPs come with the latest signal first, those without one last by name, or all by name", async (t) => {
  const model = await modelOf(t, cast);
  const { gps } = browse(model.parts);
  const order = (by: "latest" | "name") => namesOf(model, gps.select({}, by, everything).positions);
  const byName = model.selectGps({}, everything).positions;
  assert.deepEqual(order("name"), namesOf(model, byName));
  assert.deepEqual(order("latest").slice(0, 2), [
    "Northwind Residential Partners",
    "Stonehaven Realty",
  ]);
  const rest = order("name").filter((name) => !/^(?:Northwind|Stonehaven)/.test(name));
  assert.deepEqual(order("latest").slice(2), rest);
});

test("pages of GPs neither repeat nor miss one, in both orders", async (t) => {
  const model = await modelOf(t, cast);
  const { gps } = browse(model.parts);
  for (const order of ["latest", "name"] as const) {
    const paged = [0, 3, 6, 9].flatMap(
      (offset) => gps.select({}, order, { limit: 3, offset }).positions,
    );
    assert.deepEqual(paged, gps.select({}, order, everything).positions);
  }
});

const inMarket = (id: string, type: string, market: string | null, gps: string[]) => ({
  record: "signal",
  id,
  title: `${id} says ,"type":"news","market":"Nowhere","property_types":[]`,
  type,
  date: "2026-01-01",
  ...(market !== null && { market }),
  gps,
});

test("signals are found by type, by their own market in any spelling, and by their GPs, whatever their titles hold", async (t) => {
  const dallas = "Dallas-Fort Worth-Arlington, TX";
  const model = await modelOf(t, [
    { record: "gp", id: "a", name: "A", tags: ["x"] },
    { record: "gp", id: "b", name: "B" },
    inMarket("one", "news", dallas, ["a"]),
    inMarket("two", "acquisition", dallas, ["b"]),
    inMarket("three", "news", null, ["a"]),
    inMarket("four", "news", 'Quoted "Place"', []),
  ]);
  const { gps, signals } = browse(model.parts);
  const ids = (filter: Parameters<typeof signals.select>[0]) =>
    titlesOf(model, signals.select(filter, everything).positions)
      .map((title) => title.split(" ")[0]!)
      .toSorted();
  assert.deepEqual(ids({}), ["four", "one", "three", "two"]);
  assert.deepEqual(ids({ types: ["news"] }), ["four", "one", "three"]);
  assert.deepEqual(ids({ markets: ["fort worth"] }), ["one", "two"]);
  assert.deepEqual(ids({ markets: ["Nowhere"] }), []);
  assert.deepEqual(ids({ types: ["news"], gps: gps.find({ tag: ["x"] }) }), ["one", "three"]);
  const { ofType, ofMarket } = signals.select({ types: ["news"], markets: ["dallas"] }, everything);
  assert.deepEqual(Object.fromEntries(ofType), { news: 1, acquisition: 1 });
  assert.deepEqual(Object.fromEntries(ofMarket), { [dallas]: 1, 'Quoted "Place"': 1 });
});
