/** What an earlier program wrote is brought up to date without a loss: data folders and backups kept as fixtures. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { gunzipSync } from "node:zlib";
import { commandDone, mainPath, outcomeOf } from "../support/command-line.ts";
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
  versions: ["20261122T174725Z-ec3d255d", "20261122T174726Z-edeb45b0"],
} as const;

/** The fixture's requests must not be too old on the day of the test. */
const settings = { USAGE_LOG_DAYS: "3650" };

function unpack(t: TestContext): string {
  const dataDir = temporaryFolder(t);
  execFileSync("tar", ["-xzf", fixture.folder, "-C", dataDir]);
  return dataDir;
}

async function ask(address: string, path: string) {
  const response = await fetch(address + path, { headers: { "x-api-key": fixture.key } });
  const body = (await response.json()) as { data: { id: string }[]; pagination: { total: number } };
  return { status: response.status, version: response.headers.get("dataset-version"), body };
}

const listed = (dataDir: string) =>
  commandDone(dataDir, "requests", "list", "--account", "Harbor", "--json");

test("a data folder of 1.3 keeps its key, records, requests and totals under this program", async (t) => {
  const dataDir = unpack(t);
  const server = spawnServer(t, { dataDir, settings });
  const address = await server.address;
  const { status, version, body } = await ask(address, "/fetch-gp?gp_name=northwind");
  assert.deepEqual([status, version, body.pagination.total], [200, fixture.versions[1], 1]);
  server.signal("SIGTERM");
  assert.deepEqual(await server.ended, { exitCode: 0, signal: null });

  const [latest, ...earlier] = JSON.parse(await listed(dataDir));
  assert.equal(latest.operation, "fetch-gp");
  assert.deepEqual(earlier, JSON.parse(fixture.requests));
  const found = await commandDone(dataDir, "requests", "find", "mirror-3", "--json");
  assert.deepEqual(
    JSON.parse(found).map((request: { request_id: string }) => request.request_id),
    ["mirror-3"],
  );
  const month = earlier[0].at.slice(0, 7) as string;
  const [sums] = JSON.parse(
    await commandDone(dataDir, "usage", "export", "--month", month, "--by", "account", "--json"),
  );
  assert.deepEqual([sums.status_2xx >= 29, sums.status_4xx >= 1], [true, true]);
  // Any free port: whether 8080 is in use says nothing of the folder.
  const environment = { ...process.env, DATA_DIR: dataDir, PORT: "0" };
  const { exitCode, out } = await outcomeOf(process.execPath, [mainPath, "doctor"], environment);
  assert.equal(exitCode, 0, out);
});

test("the older dataset of a data folder of 1.3 can be rolled back to, with the ids it had", async (t) => {
  const dataDir = unpack(t);
  const diff = await commandDone(dataDir, "datasets", "diff", ...fixture.versions, "--json");
  const before = await idsOf(t, dataDir);
  await commandDone(dataDir, "datasets", "rollback");
  const after = await idsOf(t, dataDir);
  assert.equal(after.version, fixture.versions[0]);
  assert.equal(after.ids.length, before.ids.length + 1);
  assert.ok(before.ids.every((id) => after.ids.includes(id)));
  assert.match(diff, /"removed"/);
});

async function idsOf(t: TestContext, dataDir: string) {
  const server = spawnServer(t, { dataDir, settings });
  const { version, body } = await ask(await server.address, "/fetch-principals?limit=100");
  const gps = await ask(await server.address, "/fetch-gp?gp_name=realty");
  server.signal("SIGTERM");
  await server.ended;
  return { version, ids: [...body.data, ...gps.body.data].map(({ id }) => id) };
}

test("a backup that 1.3 made takes its place again, also after this program brought the folder up to date", async (t) => {
  const dataDir = unpack(t);
  const server = spawnServer(t, { dataDir, settings });
  await ask(await server.address, "/fetch-gp?gp_name=northwind");
  server.signal("SIGTERM");
  await server.ended;
  const backup = join(temporaryFolder(t), "before.tar");
  writeFileSync(backup, gunzipSync(readFileSync(fixture.backup)));
  await commandDone(dataDir, "restore", backup, "--replace");
  assert.deepEqual(JSON.parse(await listed(dataDir)), JSON.parse(fixture.requests));
  const again = spawnServer(t, { dataDir, settings });
  const { status, version } = await ask(await again.address, "/fetch-signals");
  assert.deepEqual([status, version], [200, fixture.versions[1]]);
});
