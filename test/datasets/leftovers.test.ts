import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { type Catalogue, clearLeftovers, draftName, openCatalogue } from "#datasets/catalogue.ts";
import { isStaged } from "#datasets/generation.ts";
import { mainPath } from "../support/command-line.ts";
import { importRecords, prune, publishVersion, temporaryCatalogue } from "../support/dataset.ts";
import { allCommands } from "../support/all-commands.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { day, documents, filesOf, gp, importDaily } from "./published.ts";

/** A folder with one dataset, and a name in it. */
async function folderWithOne(catalogue: Catalogue) {
  await importDaily(catalogue, [gp("a")]);
  const version = catalogue.currentVersion()!;
  return { version, at: (name: string) => join(catalogue.folder, name) };
}

test("everything that a killed import was writing is removed, and nothing else, and neither is taken for a dataset", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const { version, at } = await folderWithOne(catalogue);
  const strays = ["notes.json", "backup.1.tmp", "20260101T000000Z-ffffffff.sqlite", ".hidden"];
  for (const name of strays) writeFileSync(at(name), "mine");
  const files = filesOf(catalogue);
  mkdirSync(at("folder.json"));
  for (const name of [
    ".draft.sqlite",
    ".draft.sqlite-journal",
    ".draft.sqlite.texts",
    ".draft.json",
    "current.123.tmp",
    `${version}.json.9.tmp`,
  ])
    writeFileSync(at(name), "half");
  const listed = () => catalogue.list().map((one) => one.version);
  assert.deepEqual(listed(), [version]);
  clearLeftovers(catalogue.folder);
  assert.deepEqual(listed(), [version]);
  rmSync(at("folder.json"), { recursive: true });
  assert.deepEqual(filesOf(catalogue), files);
});

test("a dataset that had its name but not yet its facts goes, by what the draft's facts say", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const { version, at } = await folderWithOne(catalogue);
  renameSync(at(`${version}.json`), at(".draft.json"));
  rmSync(at("current"));
  clearLeftovers(catalogue.folder);
  assert.deepEqual(readdirSync(catalogue.folder), []);
});

test("a dataset that has its facts stays, whatever else stands in the draft's", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const { version, at } = await folderWithOne(catalogue);
  const files = filesOf(catalogue);
  writeFileSync(at(".draft.json"), JSON.stringify({ version }));
  clearLeftovers(catalogue.folder);
  assert.deepEqual(filesOf(catalogue), files);
});

test("a dataset that an earlier program staged, which kept no draft's facts, stays staged and can be published", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const { version: built_from, at } = await folderWithOne(catalogue);
  const order = { isStaged: true, nowMilliseconds: day(2) };
  const { version, hash, sha256, bytes } = (await importRecords(catalogue, [gp("b")], order))
    .staged!;
  const records = { gp: 1, principal: 0, signal: 0, project: 0 };
  const built_at = "2026-11-02T03:00:00Z";
  const neverPublished = { published_at: null, published_after: null };
  const facts = { version, hash, sha256, bytes, records, built_at, built_from, ...neverPublished };
  writeFileSync(at(`${version}.json`), JSON.stringify(facts));
  const isStillStaged = () => isStaged(catalogue.find(version));
  clearLeftovers(catalogue.folder);
  assert.ok(isStillStaged());
  await prune(catalogue, { keep: 1, isDryRun: false, nowMilliseconds: day(3) });
  assert.ok(isStillStaged());
  await importRecords(catalogue, [gp("c")], { nowMilliseconds: day(3) });
  assert.ok(isStillStaged());
  await publishVersion(catalogue, { version, discardsNewer: true, nowMilliseconds: day(4) });
  assert.equal(documents(catalogue, "gp")[0]!["name"], "b");
});

test("while `current` is damaged nobody can tell what was published, and nothing is cleared", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const { version, at } = await folderWithOne(catalogue);
  copyFileSync(at(`${version}.json`), at(".draft.json"));
  writeFileSync(at("current"), "?");
  const files = filesOf(catalogue);
  clearLeftovers(catalogue.folder);
  assert.deepEqual(filesOf(catalogue), files);
  await publishVersion(catalogue, { version, nowMilliseconds: day(2) });
  clearLeftovers(catalogue.folder);
  assert.deepEqual(Object.keys(filesOf(catalogue)), [
    `${version}.json`,
    `${version}.sqlite`,
    "current",
  ]);
});

test("an import that is killed leaves one file, the old dataset, and nothing the next import has to wait for", async (t) => {
  const dataDir = temporaryFolder(t);
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  await importDaily(catalogue, [gp("a")]);
  const files = filesOf(catalogue);
  const pipe = join(dataDir, "pipe");
  execFileSync("mkfifo", [pipe]);
  const args = ["import", "ndjson", pipe, "--source", "two"];
  const child = spawn(process.execPath, [mainPath, ...args], {
    env: { ...process.env, DATA_DIR: dataDir },
    stdio: "ignore",
  });
  // Opens when the import reads from it, with its draft begun.
  const source = await open(pipe, "w");
  await source.write(`${JSON.stringify(gp("b"))}\n`);
  child.kill("SIGKILL");
  await once(child, "exit");
  await source.close();
  const { [draftName]: draft, ...rest } = filesOf(catalogue);
  assert.notEqual(draft, undefined);
  assert.deepEqual(rest, files);
  rmSync(pipe);
  writeFileSync(pipe, `${JSON.stringify(gp("b"))}\n`);
  await allCommands(dataDir).text(...args);
  assert.equal(documents(catalogue, "gp").length, 2);
  assert.deepEqual(
    readdirSync(catalogue.folder).filter((name) => name.startsWith(".")),
    [],
  );
});
