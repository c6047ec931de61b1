import { test } from "node:test";
import fc from "fast-check";
import { eachImport } from "../../fuzz/imports/fuzz-imports.ts";

test("damaged files are taken with their sums right or refused in words, and sound ones taken whole", async () => {
  const sound = { sample: "plain", part: "table", damages: [], encoding: "as it is" } as const;
  const examples = [true, false].map((isWhole): [typeof sound & { isWhole: boolean }] => [
    { ...sound, isWhole },
  ]);
  await fc.assert(await eachImport(), { seed: 3, numRuns: 32, examples });
});
