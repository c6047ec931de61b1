import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, readdirSync, readFileSync } from "node:fs";
import { createServer, request as forward } from "node:http";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { test, type TestContext } from "node:test";
import { hasPython } from "../clients/each-client.ts";
import { checkTypes, packClient, run } from "../clients/packed.ts";
import { publish, records, servedBy } from "../clients/publish.ts";
import { readLines } from "../support/json-lines.ts";
import { listenFor } from "../support/ports.ts";
import { startService, type TestService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/**
 * Passes requests on, each after `before` it. The clock stands still but where the minute is used up: then the last of its
 * seconds is left, which the program has to wait for.
 */
async function proxy(t: TestContext, service: TestService, before: (number: number) => unknown) {
  const statuses: number[] = [];
  /** Each time another dataset was seen in a page. */
  const versions: string[] = [];
  let isUsedUp = false;
  const server = createServer(async (request, response) => {
    await before(statuses.length + 1);
    if (isUsedUp) service.clock.advance(59);
    isUsedUp = false;
    const { headers, url: path } = request;
    forward(service.url + path, { headers }, (answer) => {
      const { statusCode = 0, headers: received } = answer;
      statuses.push(statusCode);
      const version = String(received["dataset-version"] ?? versions.at(-1));
      if (/^\/(fetch|list)-/.test(path!) && version !== versions.at(-1)) versions.push(version);
      isUsedUp = String(received["ratelimit"]).startsWith('"minute";r=0') && statusCode !== 429;
      if (statusCode === 429) service.clock.advance(1);
      response.writeHead(statusCode, received);
      answer.pipe(response);
    }).end();
  });
  return { url: `http://127.0.0.1:${await listenFor(t, server)}`, statuses, versions };
}

/** That the file has exactly the records that are served. */
async function assertHolds(folder: string, service: TestService): Promise<void> {
  const served = await servedBy(service);
  const [head, ...lines] = readLines(readFileSync(join(folder, "mirror.ndjson"), "utf8"));
  assert.equal(head.version, served.version);
  const saved: Record<string, any[]> = { gp: [], principal: [], signal: [], project: [] };
  for (const { kind, record } of lines) saved[kind]!.push(record);
  for (const of of Object.values(saved)) of.sort((a, b) => (a.id < b.id ? -1 : 1));
  assert.deepEqual(saved, served.records);
}

/** A program that writes `mirror.ndjson` into a folder. */
interface Mirror {
  folder: string;
  command: readonly [string, ...string[]];
}

const environment = { PYTHONPATH: resolve("clients/python"), PYTHONDONTWRITEBYTECODE: "1" };

/** Runs the program through its life. One GP has no other records. */
async function assertMirrors(t: TestContext, { folder, command }: Mirror): Promise<void> {
  const lone = { record: "gp", id: "lone", name: "Lone Partners" } as const;
  const service = await startService(t, { records: [...records(250), lone] });
  const { key } = await service.newKey({ quotas: { minute: 2 } });
  const { url, statuses, versions } = await proxy(t, service, async (number) => {
    if (number === 3) await publish(service, records(350, "Another closes"));
    if (number === 7) await publish(service, "roll back");
  });
  const env = { ...environment, GP_RECORDS_URL: url, GP_RECORDS_KEY: key };
  const [first, ...args] = command;
  const assertEqual = async (printed: RegExp) => {
    assert.match(await run(first, args, { cwd: folder, env }), printed);
    await assertHolds(folder, service);
  };
  await assertEqual(/, by pages: 271 records\n$/);
  // The dataset that was gone back to is the one it had begun with.
  assert.equal(versions.length, 3);
  assert.equal(versions[0], versions[2]);
  assert.ok(statuses.filter((status) => status === 429).length >= 2, statuses.join(" "));
  await assertEqual(/, by unchanged: /);
  await publish(service, records(20, "A third closes"));
  await assertEqual(/, by steps: 40 records\n$/);
}

/** Two at once, a third that is killed while it reads an export, and one whose disk is full, leave what the next one goes on from. */
async function assertSurvives(t: TestContext, { folder, command }: Mirror): Promise<void> {
  const service = await startService(t, { records: records(250), settings: { EXPORTS: "on" } });
  const { key } = await service.newKey({ quotas: { minute: 1000 } });
  const begin = (url: string, [first, ...more] = command) => {
    const env = { ...process.env, ...environment, GP_RECORDS_URL: url, GP_RECORDS_KEY: key };
    const child = spawn(first, more, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
    const said = { printed: text(child.stdout), errors: text(child.stderr) };
    return { child, ...said, ended: once(child, "exit") };
  };
  const killed: ReturnType<typeof begin>[] = [];
  const breaking = await proxy(t, service, (number) => {
    if (number === 4) for (const { child } of killed) child.kill("SIGKILL");
  });
  killed.push(begin(breaking.url));
  const both = [begin(service.url), begin(service.url)];
  const assertWhole = async ({ printed, ended }: ReturnType<typeof begin>, how: string) => {
    const [code] = await ended;
    assert.deepEqual([code, (await printed).includes(`by ${how}: `)], [0, true]);
  };
  const [, signal] = await killed[0]!.ended;
  assert.equal(signal, "SIGKILL");
  for (const one of both) await assertWhole(one, "export");
  await assertHolds(folder, service);
  await publish(service, records(260));
  // No file may then be as long as the copy: as on a full disk.
  const path = join(folder, "mirror.ndjson");
  const before = readFileSync(path, "utf8");
  const limited = begin(service.url, ["sh", "-c", 'ulimit -f 64; exec "$@"', "sh", ...command]);
  const [code] = await limited.ended;
  assert.notEqual(code, 0);
  assert.match(await limited.errors, /EFBIG|File too large/);
  assert.equal(readFileSync(path, "utf8"), before);
  await assertWhole(begin(service.url), "steps");
  await assertHolds(folder, service);
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith("mirror.ndjson")),
    ["mirror.ndjson"],
  );
}

async function typeScriptMirror(t: TestContext): Promise<Mirror> {
  const { folder } = await packClient(t);
  cpSync("examples/mirror.ts", join(folder, "mirror.mts"));
  return { folder, command: [process.execPath, "mirror.mts"] };
}

const pythonMirror = (t: TestContext): Mirror => ({
  folder: temporaryFolder(t),
  command: ["python3", resolve("examples/mirror.py")],
});

test("the example of a mirror in TypeScript leaves a whole copy where two of it run at once, a third is killed and the disk is full", async (t) => {
  await assertSurvives(t, await typeScriptMirror(t));
});

test("the example of a mirror in Python leaves a whole copy where two of it run at once, a third is killed and the disk is full", async (t) => {
  if (hasPython(t)) await assertSurvives(t, pythonMirror(t));
});

test("the example of a mirror in TypeScript ends with the records of one dataset, through a publication, a roll-back and 429s", async (t) => {
  const mirror = await typeScriptMirror(t);
  await checkTypes(mirror.folder, ["mirror.mts"]);
  await assertMirrors(t, mirror);
});

test("the example of a mirror in Python ends with the records of one dataset, through a publication, a roll-back and 429s", async (t) => {
  if (hasPython(t)) await assertMirrors(t, pythonMirror(t));
});
