import assert from "node:assert/strict";
import { test } from "node:test";
import { placeOfMarket } from "#search/market-places.ts";
import { modelOf } from "../support/dataset.ts";

const project = (
  id: string,
  market: string,
  latitude: number | null,
  longitude: number | null,
) => ({
  record: "project",
  id,
  name: `Project ${id}`,
  market,
  latitude,
  longitude,
});

test("the place of a market is the median of its projects, and none is invented", async (t) => {
  const model = await modelOf(t, [
    project("a", "Dallas-Fort Worth-Arlington, TX", 32.8, -96.9),
    project("b", "Dallas-Fort Worth-Arlington, TX", 32.7, -97.3),
    // A slip of the pen moves nothing.
    project("c", "Dallas-Fort Worth-Arlington, TX", -32.8, 96.9),
    project("d", "Dallas-Fort Worth-Arlington, TX", null, null),
    project("e", "Austin-Round Rock, TX", null, null),
  ]);
  for (const title of ["Dallas-Fort Worth-Arlington, TX", "DALLAS, TX"])
    assert.deepEqual(placeOfMarket(model, title), { latitude: 32.7, longitude: -96.9 });
  assert.equal(placeOfMarket(model, "Austin-Round Rock, TX"), null);
  assert.equal(placeOfMarket(model, "Nowhere, TX"), null);
});
