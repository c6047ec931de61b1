import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { exitCodes } from "#cli/command-fault.ts";
import { allCommands } from "../support/all-commands.ts";
import { startService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test("openapi prints what /openapi.json serves under the same settings", async (t) => {
  const settings = { PAGE_SIZE_MAX: "250" };
  const { get, dataDir } = await startService(t, { records: null, settings });
  const { body } = await get("/openapi.json", { "x-api-key": "" });
  const printed = JSON.parse(await allCommands(dataDir, settings).text("openapi"));
  assert.deepEqual(printed, body);
  const { parameters } = printed.paths["/fetch-gp"].get;
  assert.equal(parameters.find(({ name }: any) => name === "limit").schema.maximum, 250);
});

test("openapi --check finds drift from the file that --write has written", async (t) => {
  const file = join(temporaryFolder(t), "openapi.json");
  const { text, refusal } = allCommands("unused");
  assert.equal(await text("openapi", "--write", file), "");
  assert.equal(await text("openapi", "--check", file), "");
  assert.equal(readFileSync(file, "utf8"), await text("openapi"));
  writeFileSync(file, readFileSync(file, "utf8").replace("fetch-gp", "fetch-gps"));
  const err = await refusal(exitCodes.conflict, "openapi", "--check", file);
  assert.match(err, /^error: .*openapi\.json is not what the service describes.*\n$/);
});

test("a file that openapi can neither read nor write ends with 2 and is named", async (t) => {
  const nowhere = join(temporaryFolder(t), "none", "openapi.json");
  const { refusal } = allCommands("unused");
  for (const [option, done] of [
    ["--check", "read"],
    ["--write", "written"],
  ] as const)
    assert.equal(
      await refusal(exitCodes.usage, "openapi", option, nowhere),
      `error: ${nowhere} cannot be ${done} (ENOENT).\n`,
    );
  const both = await refusal(exitCodes.usage, "openapi", "--check", nowhere, "--write", nowhere);
  assert.match(both, /^error: .*--check.*cannot be used with.*--write.*\n$/);
});
