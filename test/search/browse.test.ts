import assert from "node:assert/strict";
import { test } from "node:test";
import { nameOfMarket } from "#search/browse.ts";
import { readDocuments } from "#search/documents.ts";
import type { Filter, ReadModel } from "#search/read-model.ts";
import { cast } from "../support/cast.ts";
import { modelOf } from "../support/dataset.ts";

const everything = { limit: 1000, offset: 0 };
const titlesOf = (model: ReadModel, positions: readonly number[]) =>
  readDocuments<{ title: string }>(model.parts.documents.signal, positions).map(
    ({ title }) => title,
  );

test("every tag, theme and market that a GP carries can be chosen", async (t) => {
  const model = await modelOf(t, cast);
  const values = (name: string) => model.values("gp", name).toSorted();
  const markets = model.values("gp", "market").map((title) => nameOfMarket(model, title));
  assert.deepEqual(markets.toSorted(), [
    "Asia-Pacific",
    "Dallas, TX",
    "New York, NY",
    "Winston-Salem, NC",
  ]);
  assert.deepEqual(values("tag"), [
    "ai",
    "core",
    "multifamily",
    "qof",
    "reg_d_506c",
    "retail",
    "serial_filer",
    "value_add",
  ]);
  assert.deepEqual(values("theme"), ["build_to_rent", "opportunity_zones"]);
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
  const names = titles.map((title) => nameOfMarket(model, title));
  assert.deepEqual(names, [
    "Nashville, TN",
    "Columbus-Auburn, GA-AL",
    "Columbus, GA-AL",
    "Louisville/Jefferson County, KY",
    "Asia-Pacific",
  ]);
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
  const ids = (filter: Filter) =>
    titlesOf(model, model.select("signal", filter, everything).positions)
      .map((title) => title.split(" ")[0]!)
      .toSorted();
  assert.deepEqual(ids({}), ["four", "one", "three", "two"]);
  assert.deepEqual(ids({ type: ["news"] }), ["four", "one", "three"]);
  assert.deepEqual(ids({ market: ["fort worth"] }), ["one", "two"]);
  assert.deepEqual(ids({ market: ["Nowhere"] }), []);
  assert.deepEqual(ids({ type: ["news"], gp: { tag: ["x"] } }), ["one", "three"]);
  const filter = { type: ["news"], market: ["dallas"] };
  const countsOf = (name: string) => {
    const values = model.values("signal", name);
    const counts = model.count("signal", name, values, filter);
    return Object.fromEntries(values.map((value, i) => [value, counts[i]]));
  };
  assert.deepEqual(countsOf("type"), { news: 1, acquisition: 1 });
  assert.deepEqual(countsOf("market"), { [dallas]: 1, 'Quoted "Place"': 1 });
});
