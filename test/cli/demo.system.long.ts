import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { exitCodes } from "#cli/command-fault.ts";
import { prepareDemo, publishSecond } from "#cli/demo.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import { openPublications } from "#datasets/publications.ts";
import { inventEarlier } from "#demo/invent.ts";
import { keyPattern } from "#keys/api-key.ts";
import { operations } from "#operations/index.ts";
import { exampleTarget } from "#pages/code-block.ts";
import { day, noon } from "../support/control.ts";
import { allCommands } from "../support/all-commands.ts";
import { importRecords } from "../support/dataset.ts";
import { newKey } from "../support/own-process.ts";
import { listenFor } from "../support/ports.ts";
import { startServer } from "../support/server-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const smallDemo = { seed: 1, gps: 60, principals: 30, signals: 20, projects: 10 };

const contextAt = (dataDir: string, now: number) => ({
  environment: { DATA_DIR: dataDir },
  now: () => now,
  print: assert.fail,
  reportError: assert.fail,
});

const prepareSmallDemo = (dataDir: string, now = Date.now()) =>
  prepareDemo(contextAt(dataDir, now), smallDemo);

const keysOf = (dataDir: string): Promise<any[]> =>
  allCommands(dataDir, {}, Date.now).json("keys list");

test("the demo is refused where others could reach it, and each setting that says so is named", async (t) => {
  const dataDir = join(temporaryFolder(t), "data");
  const errFor = (settings: Record<string, string>) =>
    allCommands(dataDir, settings).refusal(exitCodes.usage, "serve", "--demo");
  const settings = {
    HOST: "0.0.0.0",
    NODE_ENV: "production",
    PUBLIC_URL: "https://records.example",
    TRUSTED_PROXIES: "10.0.0.1",
  };
  for (const [name, value] of Object.entries(settings)) {
    const err = await errFor({ [name]: value });
    assert.match(err, new RegExp(`^error: ${name} must .* for --demo.*\n$`));
  }
  for (const host of ["::", "192.168.1.5", "records.example", "127.example.org"])
    assert.match(await errFor({ HOST: host }), /^error: HOST must be a loopback address/);
  const all = (await errFor(settings)).trimEnd().split("\n");
  const found = all.map((line) => line.split(" ")[1]);
  assert.deepEqual(found, Object.keys(settings));
  assert.equal(existsSync(dataDir), false);
});

test("a later start of the demo", async (t) => {
  const dataDir = temporaryFolder(t);
  const { key: oldKey, inventedCount } = await prepareSmallDemo(dataDir);
  assert.equal(inventedCount, [...inventEarlier(smallDemo)].length);
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

  await t.test("prints the key of the first, and until when it works", async () => {
    assert.equal(key, oldKey);
    const [only, ...others] = await keysOf(dataDir);
    assert.deepEqual([only!.state, others], ["expiring", []]);
    const until = `${only!.expires_at.slice(0, 16).replace("T", " ")} UTC`;
    assert.ok(printed.includes(`valid until               ${until}`), printed);
  });

  await t.test(
    "says in its docs that it printed a key, and links to where others are made",
    async () => {
      const docs = await (await fetch(`${url}/docs`)).text();
      assert.match(docs, /This is a demo: the key that it printed.*href="\/account\/sign-up"/s);
    },
  );

  await t.test("shows its records to everyone", async () => {
    const page = await fetch(`${url}/browse/gps`);
    assert.equal(page.status, 200);
    assert.match(await page.text(), /60 GPs/);
    const privacy = await (await fetch(`${url}/privacy`)).text();
    assert.match(privacy, /All records of this service are invented/);
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

test("a first start whose output is piped", async (t) => {
  const server = await startServer(t, { dataDir: temporaryFolder(t), args: ["--demo"] });

  await t.test("says on standard error how far it is, and nothing else", () => {
    const lines = server.err().trimEnd().split("\n");
    for (const line of lines)
      assert.match(line, /^[\d,]+ of about 65,000 records (invented|written|checked)$/);
  });

  await t.test("prints what people are to read, and no log", () => {
    assert.match(server.out(), /^\ngp-records answers at .* with 6\d,\d{3} invented records\n/);
    assert.match(server.out(), /\nPress Ctrl-C to stop the server\.\n\n$/);
    assert.doesNotMatch(server.out(), /^\{/m);
  });

  await t.test("has an answer for every sample that is documented", async () => {
    const [key] = keyPattern.exec(server.out())!;
    const ask = (target: string) => server.get(target, { "x-api-key": key! });
    const samples = ["README.md", "docs/api.md"].flatMap(samplesOf);
    assert.ok(samples.length >= 5);
    for (const { target, sample } of samples) {
      const { status, body } = await ask(target);
      assert.deepEqual([status, body.code], [sample.status ?? 200, sample.code], target);
      assert.equal(body.data?.length > 0, sample.data?.length > 0, target);
      assert.deepEqual(hintCodes(body), hintCodes(sample), target);
    }
    const readme = readFileSync("README.md", "utf8");
    const curled = [...readme.matchAll(/curl .*?'http:\/\/127\.0\.0\.1:8080(\/[^']+)'/g)];
    assert.ok(curled.length > 0);
    for (const target of [...curled.map(([, one]) => one!), ...operations.map(exampleTarget)])
      assert.ok((await ask(target)).body.pagination.total > 0, target);
  });
});

/** The requests of a page whose answers stand below them. */
const samplesOf = (page: string) =>
  [...readFileSync(page, "utf8").matchAll(/```http\nGET (.+)\n```\n\n```json\n([^`]*)```/g)].map(
    ([, target, sample]) => ({ target: target!, sample: JSON.parse(sample!) }),
  );

const hintCodes = (body: { meta?: { hints: { code: string }[] } }) =>
  body.meta?.hints.map(({ code }) => code);

test("the demo publishes a second dataset once, some days after the first, in which records were added, changed and removed", async (t) => {
  const dataDir = temporaryFolder(t);
  const now = Date.now();
  const size = { seed: 1, gps: 300, principals: 1200, signals: 600, projects: 600 };
  await prepareDemo(contextAt(dataDir, now), size);
  await publishSecond(contextAt(dataDir, now), size);
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  const published = catalogue.list();
  assert.equal(published.length, 2);
  const { seed: _, gps: gp, principals: principal, signals: signal, projects: project } = size;
  assert.deepEqual(published[1]!.records, { gp, principal, signal, project });
  const [first, second] = openPublications(catalogue.folder).list(published[1]!.version);
  const days = (Date.parse(second!.published_at) - Date.parse(first!.published_at)) / 86_400_000;
  assert.equal(Math.round(days), 4);
  const { counts } = second!.step!;
  assert.deepEqual([counts.gp.added, counts.gp.removed], [0, 0]);
  assert.ok(counts.gp.changed > 10 && counts.project.changed > 5 && counts.signal.added > 10);
  for (const kind of ["principal", "signal", "project"] as const)
    assert.ok(counts[kind].removed > 0, kind);
  await publishSecond(contextAt(dataDir, now + 1000), size);
  assert.equal(catalogue.list().length, 2);
});

test("log lines of a demo's start stand before what people are to read, where they are asked for", async (t) => {
  const dataDir = temporaryFolder(t);
  await prepareSmallDemo(dataDir);
  const settings = { LOG_LEVEL: "info" };
  const server = await startServer(t, { dataDir, args: ["--demo"], settings });
  assert.match(server.out(), /^\{.*"msg":"dataset is served"\}\n\ngp-records answers at /);
});

test("the demo leaves real records and real keys as they are", async (t) => {
  const dataDir = temporaryFolder(t);
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  await importRecords(catalogue, [{ record: "gp", id: "acme", name: "Acme Capital" }]);
  const before = catalogue.list();
  const { text } = allCommands(dataDir);
  await text("accounts create --name demo");
  await text("keys create --account demo --name real");
  for (const start of ["first", "second"]) {
    const { inventedCount } = await prepareSmallDemo(dataDir);
    assert.equal(inventedCount, 0, start);
  }
  assert.deepEqual(catalogue.list(), before);
  const keys = await keysOf(dataDir);
  const states = keys.filter(({ is_demo }) => !is_demo).map(({ state }) => state);
  assert.deepEqual(states, ["active"]);
});

test("a demo that cannot listen ends at once: it invents nothing, and the key of an earlier start works on", async (t) => {
  const port = await listenFor(t, createServer());
  const startOn = (dataDir: string) =>
    allCommands(dataDir, { PORT: String(port) }).refusal(exitCodes.busy, "serve", "--demo");

  const fresh = temporaryFolder(t);
  assert.match(await startOn(fresh), /^error: 127\.0\.0\.1:\d+ is in use by another program\./);
  assert.deepEqual(openCatalogue(join(fresh, "datasets")).list(), []);
  assert.deepEqual(await keysOf(fresh), []);

  const used = temporaryFolder(t);
  const { key } = await prepareSmallDemo(used, noon);
  const before = await keysOf(used);
  await startOn(used);
  assert.deepEqual(await keysOf(used), before);
  assert.equal((await prepareSmallDemo(used, noon)).key, key);
});

test("the key of a demo works for its 24 hours whatever is started meanwhile, then another is made", async (t) => {
  const dataDir = temporaryFolder(t);
  const { key, expiresAt } = await prepareSmallDemo(dataDir, noon);
  assert.equal(Date.parse(expiresAt), noon + day);
  const again = await prepareSmallDemo(dataDir, noon + day - 1);
  assert.deepEqual(again, { key, expiresAt, inventedCount: 0 });
  const next = await prepareSmallDemo(dataDir, noon + day);
  assert.notEqual(next.key, key);
  assert.equal(Date.parse(next.expiresAt), noon + 2 * day);
  const keys = await allCommands(dataDir, {}, () => noon + day).json("keys list");
  const states = keys.map(({ state }: { state: string }) => state);
  assert.deepEqual(states, ["expired", "expiring"]);
});

test("the file of the demo's key is for its owner alone, whatever stood there before, and no real key in it is taken for the demo's", async (t) => {
  const dataDir = temporaryFolder(t);
  const file = join(dataDir, "demo.key");
  const real = await newKey(dataDir, "Acme");
  for (const before of ["no key", real]) {
    writeFileSync(file, before, { mode: 0o644 });
    const { key } = await prepareSmallDemo(dataDir);
    assert.notEqual(key, real);
    assert.equal(readFileSync(file, "utf8"), `${key}\n`);
    assert.equal(statSync(file).mode & 0o777, 0o600);
  }
});

test("a demo whose key is not known any more, or was revoked, makes another and ends the lost one", async (t) => {
  const dataDir = temporaryFolder(t);
  const first = await prepareSmallDemo(dataDir);
  rmSync(join(dataDir, "demo.key"));
  const second = await prepareSmallDemo(dataDir);
  assert.notEqual(second.key, first.key);
  const [lost, present] = await keysOf(dataDir);
  assert.deepEqual([lost!.state, present!.state], ["revoked", "expiring"]);
  await allCommands(dataDir, {}, Date.now).text("keys revoke", present!.id);
  const third = await prepareSmallDemo(dataDir);
  assert.notEqual(third.key, second.key);
  assert.equal((await prepareSmallDemo(dataDir)).key, third.key);
});
