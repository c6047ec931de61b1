import assert from "node:assert/strict";
import { test } from "node:test";
import { kinds } from "#records/kinds.ts";

test("an id tells its kind by two letters, which no other kind has", () => {
  const prefixes = Object.values(kinds).map(({ prefix }) => prefix);
  for (const prefix of prefixes) assert.match(prefix, /^[a-z]{2}$/);
  assert.equal(new Set(prefixes).size, prefixes.length);
});
