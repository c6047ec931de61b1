import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { exitCodes } from "#cli/command-fault.ts";
import { checks } from "#doctor/index.ts";
import { allCommands } from "../support/all-commands.ts";
import { commandInOwnProcess, mainPath, outcomeOf } from "../support/command-line.ts";
import { startOwnProcess } from "../support/own-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** Every file below a folder with all that can be seen of it but when it was last read. */
function picture(folder: string) {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .toSorted()
    .map((name) => {
      const { mode, size, mtimeMs, ino } = statSync(join(folder, name));
      return { name, mode, size, mtimeMs, ino };
    });
}

test("on a folder that is not there yet all is well, and it stays that way", async (t) => {
  const above = temporaryFolder(t);
  const dataDir = join(above, "a", "b");
  const { start } = allCommands(dataDir, { PORT: "0" });
  const { exitCode, out, err } = await start("doctor");
  assert.equal(exitCode, exitCodes.done, out);
  assert.equal(err, "");
  for (const line of out.trimEnd().split("\n")) assert.match(line, /^ok {4}\S/);
  const first = `^ok    folder +${dataDir} does not exist yet; the first import`;
  assert.match(out, new RegExp(first, "m"));
  assert.deepEqual(readdirSync(above), []);
});

test("beside a running server all is well, and nothing is changed", async (t) => {
  const { dataDir, port, get, key } = await startOwnProcess(t);
  await get("/fetch-projects", { "x-api-key": key });
  const before = picture(dataDir);
  const { exitCode, out } = await outcomeOf(process.execPath, [mainPath, "doctor", "--json"], {
    PATH: process.env["PATH"],
    DATA_DIR: dataDir,
    PORT: String(port),
  });
  const { healthy, checks } = JSON.parse(out);
  for (const { status, found } of checks) assert.equal(status, "ok", found);
  assert.equal(healthy, true);
  assert.equal(exitCode, exitCodes.done);
  const ofPort = checks.find(({ check }: { check: string }) => check === "port");
  assert.match(ofPort.found, /is held by a running gp-records$/);
  // The server itself writes when a key was last used, and counts.
  const isQuiet = ({ name }: { name: string }) => !/^(usage|counts)/.test(name);
  assert.deepEqual(picture(dataDir).filter(isQuiet), before.filter(isQuiet));
});

test("every check stands in docs/running.md, in order, and no other", () => {
  const [, after = ""] = readFileSync("docs/running.md", "utf8").split(
    "## When something is wrong",
  );
  const [part = ""] = after.split("\n## Backups\n");
  const documented = [...part.matchAll(/^\| (`.*`) \|/gm)].flatMap(([, cell]) => cell!.split(", "));
  const names = checks.map(({ name }) => `\`${name}\``);
  assert.deepEqual(documented, names);
});

test("what fails has a line with what to do, and ends with 6; the other checks are made", async (t) => {
  const dataDir = temporaryFolder(t);
  writeFileSync(join(dataDir, "control.sqlite"), "a text", { mode: 0o600 });
  const { exitCode, out, err } = await commandInOwnProcess(["doctor"], dataDir);
  assert.equal(exitCode, exitCodes.unhealthy);
  assert.match(
    out,
    /^fail  control\.sqlite  .*control\.sqlite is damaged: SQLite says file is not a database\n +→ Stop the server/m,
  );
  assert.match(out, /^ok    datasets /m);
  assert.match(err, /^error: Found \d things? to fix\.\n$/);
  assert.equal(readFileSync(join(dataDir, "control.sqlite"), "utf8"), "a text");
});
