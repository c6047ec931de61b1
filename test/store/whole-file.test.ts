import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { replaceFile } from "#store/whole-file.ts";
import { canSetLimits, outcomeOfScriptWithin, whyNot } from "../support/process-limits.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test("a file is replaced by its new text, and nothing is left beside it", (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, "facts.json");
  for (const text of ["old", "new and longer"]) replaceFile(path, text);
  assert.equal(readFileSync(path, "utf8"), "new and longer");
  assert.deepEqual(readdirSync(folder), ["facts.json"]);
});

test(
  "a text for which there is only half the space leaves the old one whole, and nothing beside it",
  { skip: canSetLimits ? false : whyNot },
  async (t) => {
    const folder = temporaryFolder(t);
    const path = join(folder, "facts.json");
    writeFileSync(path, "old");
    const { out } = await outcomeOfScriptWithin(
      512,
      `const { replaceFile } = await import("#store/whole-file.ts");
       try {
         replaceFile(${JSON.stringify(path)}, "x".repeat(1000));
       } catch ({ code }) {
         console.log(code);
       }`,
    );
    assert.equal(out, "EFBIG\n");
    assert.equal(readFileSync(path, "utf8"), "old");
    assert.deepEqual(readdirSync(folder), ["facts.json"]);
  },
);
