import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type Catalogue, clearLeftovers } from "#datasets/catalogue.ts";
import { publishVersion, temporaryCatalogue } from "../support/dataset.ts";
import { day, filesOf, gp, importDaily } from "./published.ts";

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
