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

test("a source that would lose more than half of its records is refused with its numbers and the option", async (t) => {
  const { importOf, versions } = await sourceOf(t, 2000);
  const refused = await importOf(999);
  assert.equal(refused.exitCode, exitCodes.shrunk);
  assert.match(
    refused.err,
    /^error: Source 'own' would shrink from 2,000 to 999 records, by more than the 50% allowed; nothing was published\. .*--max-shrink 51%\.\n$/,
  );
  assert.equal(await versions(), 1);
  const { refusal, outcome, source_records } = JSON.parse((await importOf(999, "--json")).out);
  assert.deepEqual([refusal, outcome], ["shrunk", "refused"]);
  assert.deepEqual(source_records, { before: 2000, now: 999 });
  assert.equal((await importOf(999, "--max-shrink", "51%")).exitCode, exitCodes.done);
  assert.equal((await importOf(998, "--max-shrink", "0%")).exitCode, exitCodes.shrunk);
  assert.equal((await importOf(500)).exitCode, exitCodes.done);
});

test("a share to shrink by that is none ends with 2", async (t) => {
  const { importOf } = await sourceOf(t, 1);
  for (const share of ["", "50", "101%", "-1%", "half", "1.5%"])
    assert.equal((await importOf(1, "--max-shrink", share)).exitCode, exitCodes.usage, share);
});

test("an empty file is refused by name, and empties the source only with --allow-empty", async (t) => {
  const { file, importOf, versions } = await sourceOf(t, 10);
  const refused = await importOf(0);
  assert.equal(refused.exitCode, exitCodes.inputRefused);
  assert.equal(
    refused.err,
    `error: ${file}: holds no record; if that is meant, say --allow-empty\n`,
  );
  assert.equal(await versions(), 1);
  const emptied = await importOf(0, "--allow-empty");
  assert.equal(emptied.exitCode, exitCodes.done, emptied.err);
  assert.match(emptied.out, /10 removed, 0 unchanged\. Published as /);
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
