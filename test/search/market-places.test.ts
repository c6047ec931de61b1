import assert from "node:assert/strict";
import { test } from "node:test";
import { placeOfMarket } from "#search/market-places.ts";
import { project } from "../datasets/published.ts";
import { modelOf } from "../support/dataset.ts";

const placed = (id: string, market: string, latitude: number | null, longitude: number | null) =>
  project(id, { market, latitude, longitude });

test("the place of a market is the median of its projects, and none is invented", async (t) => {
  const model = await modelOf(t, [
    placed("a", "Dallas-Fort Worth-Arlington, TX", 32.8, -96.9),
    placed("b", "Dallas-Fort Worth-Arlington, TX", 32.7, -97.3),
    // A slip of the pen moves nothing.
    placed("c", "Dallas-Fort Worth-Arlington, TX", -32.8, 96.9),
    placed("d", "Dallas-Fort Worth-Arlington, TX", null, null),
    placed("e", "Austin-Round Rock, TX", null, null),
  ]);
  for (const title of ["Dallas-Fort Worth-Arlington, TX", "DALLAS, TX"])
    assert.deepEqual(placeOfMarket(model, title), { latitude: 32.7, longitude: -96.9 });
  assert.equal(placeOfMarket(model, "Austin-Round Rock, TX"), null);
  assert.equal(placeOfMarket(model, "Nowhere, TX"), null);
});
