import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { setTimeout } from "node:timers/promises";
import { openCatalogue } from "#datasets/catalogue.ts";
import { leftovers } from "#doctor/leftovers.ts";
import { locks } from "#doctor/locks.ts";
import { importRecords } from "../support/dataset.ts";
import { finding, look } from "../support/doctor.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const acme = { record: "gp", id: "acme", name: "Acme Capital" };
const mainPath = fileURLToPath(import.meta.resolve("#cli/main.ts"));

/** An import whose input does not end. */
async function endlessImport(t: TestContext, dataDir: string) {
  const pipe = join(temporaryFolder(t), "records.ndjson");
  execFileSync("mkfifo", [pipe]);
  // Open for both, so that it neither waits for a reader nor ends for one.
  const writer = openSync(pipe, "r+");
  t.after(() => closeSync(writer));
  writeSync(writer, `${JSON.stringify(acme)}\n`);
  const args = [mainPath, "import", "ndjson", pipe, "--source", "mine"];
  const env = { ...process.env, DATA_DIR: dataDir };
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "ignore", "inherit"] });
  const ended = once(child, "exit");
  t.after(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  while (!existsSync(join(dataDir, "datasets", ".draft.sqlite"))) await setTimeout(5);
  return { pid: child.pid!, kill: () => (child.kill("SIGKILL"), ended) };
}

test("what a killed import leaves is named, but not while it runs, and goes as the finding says", async (t) => {
  const dataDir = temporaryFolder(t);
  const { pid, kill } = await endlessImport(t, dataDir);
  assert.match((await finding("ok", leftovers, dataDir)).found, /^an import or a restore runs/);
  const running = (await finding("ok", locks, dataDir)).found;
  assert.match(running, /^no server runs; the import is /);
  if (process.platform === "linux") assert.ok(running.includes(`process ${pid} (`), running);
  await kill();
  assert.equal((await finding("ok", locks, dataDir)).found, "no server runs; no import runs");
  const { found, mend } = await finding("warn", leftovers, dataDir);
  assert.match(found, /\.draft\.sqlite is what an import that was killed left/);
  assert.match(mend, /^Nothing: the next import removes it\./);
  await importRecords(openCatalogue(join(dataDir, "datasets")), [acme]);
  await finding("ok", leftovers, dataDir);
});

test("a dataset whose publication was killed is named, and goes as the finding says", async (t) => {
  const dataDir = temporaryFolder(t);
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  const { staged } = await importRecords(catalogue, [acme], { isStaged: true });
  const { version } = staged!;
  const draft = join(catalogue.folder, ".draft.json");
  const facts = join(catalogue.folder, `${version}.json`);
  copyFileSync(facts, draft);
  const published = { ...staged, published_at: "2026-11-21T12:00:00Z" };
  writeFileSync(facts, JSON.stringify(published));
  const again = await finding("warn", leftovers, dataDir);
  assert.match(again.found, /\.draft\.json is what a publication .* is staged as before$/);
  assert.ok(again.mend.endsWith(`gp-records datasets publish ${version}`));
  writeFileSync(draft, JSON.stringify(published));
  const { found, mend } = await finding("warn", leftovers, dataDir);
  assert.match(found, /\.sqlite is what an import left that was killed before it published it/);
  for (const path of mend.split(" rm ")[1]!.split(" ")) rmSync(path);
  await finding("ok", leftovers, dataDir);
  assert.deepEqual(readdirSync(catalogue.folder), []);
});

const bravo = { record: "gp", id: "bravo", name: "Bravo Capital" };

/** A data folder with an older dataset and the current one, and what takes a file of a version out of it. */
async function twoDatasets(t: TestContext) {
  const dataDir = temporaryFolder(t);
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  const older = (await importRecords(catalogue, [acme])).published!.version;
  const newer = (await importRecords(catalogue, [acme, bravo])).published!.version;
  const pathOf = (version: string, end: string) => join(catalogue.folder, `${version}.${end}`);
  const takeOut = (version: string, end: string) =>
    renameSync(pathOf(version, end), join(dataDir, `${version}.${end}`));
  return { dataDir, older, newer, pathOf, takeOut };
}

const partners = [
  ["json", "sqlite"],
  ["sqlite", "json"],
] as const;

for (const [missing, left] of partners) {
  test(`a .${left} without its .${missing} of a dataset that is not served is named, and may go`, async (t) => {
    const { dataDir, older, pathOf, takeOut } = await twoDatasets(t);
    takeOut(older, missing);
    const { found, mend } = await finding("warn", leftovers, dataDir);
    assert.ok(found.startsWith(`${pathOf(older, left)} is one of the two files`), found);
    assert.equal(mend, `rm ${pathOf(older, left)}`);
  });

  test(`a .${left} without its .${missing} of the dataset that is served is never to be removed`, async (t) => {
    const { dataDir, older, newer, pathOf, takeOut } = await twoDatasets(t);
    takeOut(newer, missing);
    const { found, mend } = await finding("fail", leftovers, dataDir);
    assert.ok(found.startsWith(`${pathOf(newer, left)} is of the dataset to be served`), found);
    assert.ok(mend.includes(`put ${pathOf(newer, missing)} back from a backup`), mend);
    assert.ok(mend.endsWith(": gp-records datasets rollback"), mend);
    takeOut(older, missing);
    const all = await look(leftovers, dataDir);
    assert.equal(all.length, 2);
    for (const one of all) assert.doesNotMatch(one.mend!, /\brm\b|rollback/);
  });
}

test("where `current` names nothing, no file of a dataset is to be removed", async (t) => {
  const { dataDir, newer, takeOut } = await twoDatasets(t);
  takeOut(newer, "json");
  writeFileSync(join(dataDir, "datasets", "current"), "garbage\n");
  assert.doesNotMatch((await finding("warn", leftovers, dataDir)).mend, /\brm\b/);
});

test("looking for leftovers makes nothing", async (t) => {
  const dataDir = temporaryFolder(t);
  await finding("ok", leftovers, dataDir);
  assert.deepEqual(readdirSync(dataDir), []);
});
