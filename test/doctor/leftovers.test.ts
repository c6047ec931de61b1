import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readdirSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { setTimeout } from "node:timers/promises";
import { openCatalogue } from "#datasets/catalogue.ts";
import { leftovers } from "#doctor/leftovers.ts";
import { locks } from "#doctor/locks.ts";
import { importRecords } from "../support/dataset.ts";
import { finding } from "../support/doctor.ts";
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

test("one file of a dataset without the other is named", async (t) => {
  const dataDir = temporaryFolder(t);
  const { published } = await importRecords(openCatalogue(join(dataDir, "datasets")), [acme]);
  const facts = join(dataDir, "datasets", `${published!.version}.json`);
  renameSync(facts, join(dataDir, "elsewhere"));
  const { found, mend } = await finding("warn", leftovers, dataDir);
  const file = facts.replace(/json$/, "sqlite");
  assert.ok(found.startsWith(`${file} is one of the two files`), found);
  assert.equal(mend, `rm ${file}`);
});

test("looking for leftovers makes nothing", async (t) => {
  const dataDir = temporaryFolder(t);
  await finding("ok", leftovers, dataDir);
  assert.deepEqual(readdirSync(dataDir), []);
});
