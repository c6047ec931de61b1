import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { exitCodes } from "#cli/command-fault.ts";
import { allCommands } from "../support/all-commands.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** A data folder in which source "own" has so many GPs, and how to import fewer. */
async function sourceOf(t: TestContext, count: number) {
  const folder = temporaryFolder(t);
  const { start, text, json } = allCommands(join(folder, "data"));
  const file = join(folder, "a.ndjson");
  const args = ["import", "ndjson", file, "--source", "own"];
  const write = (gps: number) =>
    writeFileSync(
      file,
      Array.from({ length: gps }, (_, i) => `{"record":"gp","id":"${i}","name":"GP ${i}"}\n`).join(
        "",
      ),
    );
  write(count);
  await text(...args);
  const importOf = (gps: number, ...options: string[]) => {
    write(gps);
    return start(...args, ...options);
  };
  const versions = async () => (await json("datasets", "list")).length;
  return { file, start, importOf, versions };
}

test("a share to shrink by that is none ends with 2", async (t) => {
  const { importOf } = await sourceOf(t, 1);
  for (const share of ["", "50", "101%", "-1%", "half", "1.5%"])
    assert.equal((await importOf(1, "--max-shrink", share)).exitCode, exitCodes.usage, share);
});

test("a source whose last record is merged away is kept, unless it may end up empty", async (t) => {
  const { file, start } = await sourceOf(t, 1);
  writeFileSync(file, '{"record":"gp","id":"0","deleted":true}\n');
  const args = ["import", "ndjson", file, "--source", "own", "--merge"];
  const refused = await start(...args);
  assert.equal(refused.exitCode, exitCodes.inputRefused);
  assert.match(refused.err, /^error: Source 'own' would be left without a record; .*--allow-empty/);
  assert.equal((await start(...args, "--allow-empty")).exitCode, exitCodes.done);
});
