import assert from "node:assert/strict";
import { test } from "node:test";
import { checkDeprecations, type Deprecation, deprecations } from "#operations/deprecations.ts";
import { deprecatedTheme } from "../support/deprecations.ts";

const announced = (otherwise: Partial<Deprecation>): Deprecation => ({
  ...deprecatedTheme,
  since: "2026-11-30",
  sunset: "2027-11-30",
  ...(otherwise as object),
});

test("what ends was announced for twelve months at least, under an id of its own", () => {
  checkDeprecations(deprecations);
  checkDeprecations([announced({}), announced({ id: "v0", sunset: "2031-01-01" })]);
  for (const [list, words] of [
    [[announced({ sunset: "2027-11-29" })], /'themes' of 2026-11-30 ends on 2027-11-29/],
    [[announced({ sunset: "2027-13-01" })], /'themes' of 2026-11-30 ends on 2027-13-01/],
    [[announced({ since: "soon" })], /'themes' of soon/],
    [[announced({ id: "Two words" })], /'Two words' needs an id/],
    [[announced({}), announced({ sunset: "2031-01-01" })], /two deprecations 'themes'/],
  ] as const)
    assert.throws(() => checkDeprecations(list), words);
});
