import assert from "node:assert/strict";
import { test } from "node:test";
import { exitCodes } from "#cli/command-fault.ts";
import { commandInOwnProcess } from "../support/command-line.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test("the process ends with the command's exit code, results on one stream and errors on the other", async (t) => {
  const dataDir = temporaryFolder(t);
  const made = await commandInOwnProcess(
    ["accounts", "create", "--name", "Acme", "--json"],
    dataDir,
  );
  assert.equal(made.exitCode, exitCodes.done);
  assert.equal(JSON.parse(made.out).name, "Acme");
  assert.equal(made.err, "");
  const refused = await commandInOwnProcess(["accounts", "create", "--name", "Acme"], dataDir);
  assert.equal(refused.exitCode, exitCodes.conflict);
  assert.equal(refused.out, "");
  assert.match(refused.err, /^error: The name 'Acme' is taken.*\n$/);
});
