import assert from "node:assert/strict";
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Catalogue } from "#datasets/catalogue.ts";
import { publishVersion, rollBack } from "#datasets/choose.ts";
import { prune } from "#datasets/prune.ts";
import { importRecords, temporaryCatalogue } from "../support/dataset.ts";
import { day, filesOf, gp, importDaily } from "./published.ts";

const minute = 60_000;

/** Prunes long after anything was published, unless a test says otherwise. */
const pruned = (catalogue: Catalogue, keep: number, nowMilliseconds = day(30), isDryRun = false) =>
  prune(catalogue, { keep, isDryRun, nowMilliseconds }).map(({ version }) => version);
const versions = (catalogue: Catalogue) => catalogue.list().map(({ version }) => version);

/** As many datasets, published day by day. */
async function published(catalogue: Catalogue, count: number): Promise<string[]> {
  await importDaily(catalogue, ...Array.from({ length: count }, (_, i) => [gp(`g${i}`)]));
  return versions(catalogue);
}

test("the newest stay and the older ones go with both their files", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const all = await published(catalogue, 5);
  assert.deepEqual(pruned(catalogue, 2), all.slice(0, 3));
  assert.deepEqual(readdirSync(catalogue.folder).toSorted(), [
    `${all[3]}.json`,
    `${all[3]}.sqlite`,
    `${all[4]}.json`,
    `${all[4]}.sqlite`,
    "current",
  ]);
  assert.deepEqual(pruned(catalogue, 2), []);
});

test("a dry run tells what would go and deletes nothing", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const all = await published(catalogue, 3);
  const files = filesOf(catalogue);
  assert.deepEqual(pruned(catalogue, 1, day(30), true), all.slice(0, 2));
  assert.deepEqual(filesOf(catalogue), files);
});

test("the current dataset stays however old it is", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const all = await published(catalogue, 4);
  rollBack(catalogue, day(5));
  rollBack(catalogue, day(5));
  rollBack(catalogue, day(5));
  assert.equal(catalogue.currentVersion(), all[0]);
  assert.deepEqual(pruned(catalogue, 1), [all[1], all[2]]);
  assert.deepEqual(versions(catalogue), [all[0], all[3]]);
});

test("what was current within the last ten minutes stays, for a server may be opening it", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const all = await published(catalogue, 4);
  assert.deepEqual(pruned(catalogue, 1, day(4) + 10 * minute), all.slice(0, 2));
  assert.deepEqual(versions(catalogue), all.slice(2));
  assert.deepEqual(pruned(catalogue, 1, day(4) + 11 * minute), [all[2]]);
});

test("a staged dataset stays as long as it can be published, and goes when it is outdated", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const [only] = await published(catalogue, 1);
  const stage = async (id: string) =>
    (await importRecords(catalogue, [gp(id)], { isStaged: true, nowMilliseconds: day(2) })).staged!;
  const [one, other] = [await stage("x"), await stage("y")];
  assert.deepEqual(pruned(catalogue, 1), []);
  const version = other.version;
  publishVersion(catalogue, { version, discardsNewer: false, nowMilliseconds: day(3) });
  assert.deepEqual(pruned(catalogue, 2), [one.version]);
  assert.deepEqual(versions(catalogue), [only, version]);
});

test("nothing is pruned while the pointer names nothing that is there", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const all = await published(catalogue, 3);
  rmSync(catalogue.pathOf(all[2]!));
  const files = filesOf(catalogue);
  assert.throws(() => pruned(catalogue, 1), new RegExp(`no dataset '${all[2]}'`));
  assert.deepEqual(filesOf(catalogue), files);
});

test("what a killed prune left is cleared, and strange files are left alone", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const all = await published(catalogue, 3);
  rmSync(catalogue.pathOf(all[0]!));
  const strays = ["notes.json", "20260101T000000Z-ffffffff.sqlite", "x.tmp"];
  for (const name of strays) writeFileSync(join(catalogue.folder, name), "mine");
  assert.deepEqual(pruned(catalogue, 5), []);
  assert.equal(existsSync(join(catalogue.folder, `${all[0]}.json`)), false);
  for (const name of strays) assert.ok(existsSync(join(catalogue.folder, name)), name);
});
