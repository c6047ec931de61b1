/** The table of metropolitan areas. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { metros } from "#demo/places.ts";
import { assertBetween } from "./measures.ts";

test("every area has a title of its own and lies in the United States", () => {
  assert.equal(new Set(metros.map(({ title }) => title)).size, metros.length);
  for (const { title, latitude, longitude } of metros) {
    assert.match(title, /^\D+, [A-Z]{2}(-[A-Z]{2})*$/);
    assertBetween(latitude, 21, 49);
    assertBetween(longitude, -158, -70);
  }
});

test("every city is in a state of its area's title and has the start of a ZIP code", () => {
  for (const { title, cities } of metros) {
    assert.ok(cities.length > 0, title);
    const states = title.slice(title.lastIndexOf(",") + 2).split("-");
    for (const { name, state, country, zipStart } of cities) {
      assert.ok(states.includes(state ?? ""), `${name} ${state} is not in ${title}`);
      assert.match(zipStart, /^\d{3}$/);
      assert.equal(country, "US");
    }
  }
});
