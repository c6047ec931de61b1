/** What an unreleased program wrote: a data folder and a backup, kept as fixtures. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { gunzipSync } from "node:zlib";
import { exitCodes } from "#cli/command-fault.ts";
import { commandDone, commandInOwnProcess } from "../support/command-line.ts";
import { spawnServer } from "../support/server-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const fixtures = join(import.meta.dirname, "../fixtures/data-folders");

/**
 * Written by version 1.3 while `usage.sqlite` had a row for each request: two datasets, one account with one key, 30 requests.
 * Beside it a backup of it, and what its `requests list --json` printed.
 */
const fixture = {
  folder: join(fixtures, "1.3-rows.tar.gz"),
  backup: join(fixtures, "1.3-rows.backup.tar.gz"),
  requests: readFileSync(join(fixtures, "1.3-rows.requests.json"), "utf8"),
  key: "gpr_OQI1VD6VuVE55tWleCOX13rN4IFFKo2lq7ts",
} as const;

/** The fixture's requests must not be too old on the day of the test. */
const settings = { USAGE_LOG_DAYS: "3650" };

function unpack(t: TestContext): string {
  const dataDir = temporaryFolder(t);
  execFileSync("tar", ["-xzf", fixture.folder, "-C", dataDir]);
  return dataDir;
}

const listed = (dataDir: string) =>
  commandDone(dataDir, "requests", "list", "--account", "Harbor", "--json");

test("datasets of an unreleased program are refused in a sentence, beside keys and requests that stay", async (t) => {
  const dataDir = unpack(t);
  const server = spawnServer(t, { dataDir, settings });
  const response = await fetch(`${await server.address}/fetch-gp?gp_name=northwind`, {
    headers: { "x-api-key": fixture.key },
  });
  assert.equal(response.status, 503);
  assert.equal(((await response.json()) as { reason: string }).reason, "no_dataset");
  assert.match(
    server.out(),
    /has format \d, that of an older gp-records; this program reads format 3/,
  );
  server.signal("SIGTERM");
  assert.deepEqual(await server.ended, { exitCode: 0, signal: null });
  const [latest, ...earlier] = JSON.parse(await listed(dataDir));
  assert.equal(latest.operation, "fetch-gp");
  assert.deepEqual(earlier, JSON.parse(fixture.requests));
});

test("a backup that 1.3 made is refused with the version that made it, and the folder stays as it is", async (t) => {
  const dataDir = unpack(t);
  const backup = join(temporaryFolder(t), "before.tar");
  writeFileSync(backup, gunzipSync(readFileSync(fixture.backup)));
  const before = await listed(dataDir);
  const { exitCode, err } = await commandInOwnProcess(["restore", backup, "--replace"], dataDir);
  assert.equal(exitCode, exitCodes.conflict);
  assert.match(err, /has format 1; this program reads format 4 alone\. It was made by gp-records /);
  assert.equal(await listed(dataDir), before);
});
