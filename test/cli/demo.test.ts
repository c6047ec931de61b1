import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { prepareDemo } from "#cli/demo.ts";
import { exitCodes } from "#cli/exit-codes.ts";
import { readConfig } from "#config.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import { command } from "../support/command-line.ts";
import { datasetCommands } from "../support/dataset-commands.ts";
import { importRecords } from "../support/dataset.ts";
import { startServer } from "../support/server-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const smallDemo = { seed: 1, gps: 60, principals: 30, signals: 20, projects: 10 };

const prepareSmallDemo = (dataDir: string) =>
  prepareDemo(readConfig({ DATA_DIR: dataDir }), Date.now(), smallDemo);

const keysOf = async (dataDir: string) =>
  JSON.parse((await command(["keys", "list", "--json"], { dataDir })).out) as {
    is_demo: boolean;
    state: string;
  }[];

test("the demo is refused where others could reach it, and each setting that says so is named", async (t) => {
  const dataDir = join(temporaryFolder(t), "data");
  const errFor = (settings: Record<string, string>) =>
    datasetCommands(dataDir, settings).refusal(exitCodes.usage, "serve", "--demo");
  const settings = {
    HOST: "0.0.0.0",
    NODE_ENV: "production",
    PUBLIC_URL: "https://records.example",
    TRUSTED_PROXIES: "10.0.0.1",
  };
  for (const [name, value] of Object.entries(settings))
    assert.match(
      await errFor({ [name]: value }),
      new RegExp(`^error: ${name} must .* for --demo.*\n$`),
    );
  for (const host of ["::", "192.168.1.5", "records.example", "127.example.org"])
    assert.match(await errFor({ HOST: host }), /^error: HOST must be a loopback address/);
  const all = (await errFor(settings)).trimEnd().split("\n");
  assert.deepEqual(
    all.map((line) => line.split(" ")[1]),
    Object.keys(settings),
  );
  assert.equal(existsSync(dataDir), false);
});

test("a later start of the demo", async (t) => {
  const dataDir = temporaryFolder(t);
  const { key: oldKey, inventedCount } = await prepareSmallDemo(dataDir);
  assert.equal(inventedCount, 120);
  const [dataset] = openCatalogue(join(dataDir, "datasets")).list();
  const server = await startServer(t, { dataDir, args: ["--demo"] });
  const { url } = server;
  const printed = server.out();
  const [key] = /gpr_[0-9A-Za-z]{36}/.exec(printed)!;
  const ask = (headers: Record<string, string>) => server.get("/fetch-gp?gp_name=stone", headers);

  await t.test("serves the records of the first", async () => {
    assert.match(printed, /^gp-records answers at http:\/\/127\.0\.0\.1:\d+$/m);
    const { status, body } = await ask({ "x-api-key": key });
    assert.deepEqual([status, body.meta.dataset_version], [200, dataset!.version]);
  });

  await t.test("prints a first query that works as it is", async () => {
    const [, line] = /first query +(curl .+)$/m.exec(printed)!;
    assert.equal(line, `curl -H 'x-api-key: ${key}' '${url}/fetch-gp?gp_name=stone&limit=1'`);
    const page = await runInShell(line!);
    assert.equal(page.pagination.limit, 1);
    assert.equal(page.meta.dataset_version, dataset!.version);
  });

  await t.test("prints a new key and ends the old one", async () => {
    assert.notEqual(key, oldKey);
    const { status, body } = await ask({ "x-api-key": oldKey });
    assert.deepEqual([status, body.code], [401, "api-key-revoked"]);
    const states = (await keysOf(dataDir)).map(({ is_demo, state }) => [is_demo, state]);
    assert.deepEqual(states, [
      [true, "revoked"],
      [true, "expiring"],
    ]);
  });

  await t.test("never takes its key from a request that was forwarded", async () => {
    for (const name of ["X-Forwarded-For", "Forwarded", "Via", "X-Real-IP", "CF-Connecting-IP"]) {
      const { status, body } = await ask({ "x-api-key": key, [name]: "127.0.0.1" });
      assert.deepEqual([status, body.code], [401, "api-key-invalid"], name);
    }
  });
});

/** Without curl on this machine the line is read and sent from here. */
async function runInShell(line: string): Promise<any> {
  try {
    const { stdout } = await promisify(execFile)("sh", ["-c", `${line} --silent --show-error`]);
    return JSON.parse(stdout);
  } catch (error) {
    if ((error as { code?: unknown }).code !== 127) throw error;
    const [, name, value, url] = /-H '([^:]+): ([^']+)' '([^']+)'/.exec(line)!;
    return (await fetch(url!, { headers: { [name!]: value! } })).json();
  }
}

test("the demo leaves real records and real keys as they are", async (t) => {
  const dataDir = temporaryFolder(t);
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  await importRecords(catalogue, [{ record: "gp", id: "acme", name: "Acme Capital" }]);
  const before = catalogue.list();
  await command(["accounts", "create", "--name", "demo"], { dataDir });
  await command(["keys", "create", "--account", "demo", "--name", "real"], { dataDir });
  for (const start of ["first", "second"]) {
    const { inventedCount } = await prepareSmallDemo(dataDir);
    assert.equal(inventedCount, 0, start);
  }
  assert.deepEqual(catalogue.list(), before);
  const keys = await keysOf(dataDir);
  assert.deepEqual(
    keys.filter(({ is_demo }) => !is_demo).map(({ state }) => state),
    ["active"],
  );
});
