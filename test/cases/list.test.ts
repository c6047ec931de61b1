import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";

/** First and last number of each unbroken row of cases that this service must pass. */
const rows = [
  [1, 41],
  [42, 50],
  [55, 58],
  [60, 63],
  [67, 67],
  [70, 81],
  [83, 101],
  [103, 106],
] as const;

const required = rows.flatMap(([first, last]) =>
  Array.from({ length: last - first + 1 }, (_, i) => `C${String(first + i).padStart(2, "0")}`),
);

test("every case of the list has a test whose name begins with its number", () => {
  const texts = globSync("test/cases/**/*.ts").map((path) => readFileSync(path, "utf8"));
  const named = new Set(
    texts.flatMap((text) => [...text.matchAll(/"(C\d{2,3}) · \S/g)].map(([, number]) => number)),
  );
  assert.deepEqual(
    required.filter((number) => !named.has(number)),
    [],
  );
});
