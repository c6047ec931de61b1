import assert from "node:assert/strict";
import { test } from "node:test";
import { nameOfMarket } from "#search/browse.ts";
import { cast } from "../support/cast.ts";
import { modelOf } from "../support/dataset.ts";

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
