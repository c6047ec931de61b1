import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { facetNames } from "#search/dataset-parts.ts";

const sources = globSync("src/**/*.ts").filter((path) => !path.startsWith("src/demo/"));
const comments = /\/\*[^]*?\*\/|\/\/.*$/gm;
const holding = (pattern: RegExp) =>
  sources
    .filter((path) => pattern.test(readFileSync(path, "utf8").replaceAll(comments, "")))
    .toSorted();

test("a facet is named where it is indexed, filled and described: all else follows the list", () => {
  const theme = facetNames.find((name) => name === "theme")!;
  assert.deepEqual(holding(new RegExp(`"${theme}"|\\b${theme}(:|,| [},])`)), [
    // The page of a GP links each list of the record to the filter that finds its like.
    "src/dashboard/screens/gp.ts",
    "src/dashboard/screens/project.ts",
    "src/operations/operation.ts",
    // Each kind says what it means for its records.
    "src/records/gp.ts",
    "src/records/principal.ts",
    "src/records/project.ts",
    "src/records/signal.ts",
    "src/search/dataset-parts.ts",
  ]);
});
