import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Catalogue } from "#datasets/catalogue.ts";
import { publishVersion, rollBack } from "#datasets/choose.ts";
import { pinVersion, prune } from "#datasets/prune.ts";
import { importRecords, temporaryCatalogue } from "../support/dataset.ts";
import { day, filesOf, gp, importDaily } from "./published.ts";

const minute = 60_000;

/** Prunes long after anything was published, unless a test says otherwise. */
const pruned = (catalogue: Catalogue, keep: number, nowMilliseconds = day(30), isDryRun = false) =>
  prune(catalogue, { keep, isDryRun, nowMilliseconds }).removed.map(({ version }) => version);
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

test("unasked, the dataset that a roll-back would go to stays however old it is", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const all = await published(catalogue, 4);
  rollBack(catalogue, day(5));
  rollBack(catalogue, day(5));
  assert.equal(catalogue.currentVersion(), all[1]);
  const order = { keep: 1, isDryRun: false, isAutomatic: true, nowMilliseconds: day(30) };
  const { removed } = prune(catalogue, order);
  assert.deepEqual(
    removed.map(({ version }) => version),
    [all[2]],
  );
  assert.equal(rollBack(catalogue, day(30)).version, all[0]);
});

test("a dataset that is pinned stays and is named, until it is let go", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const all = await published(catalogue, 5);
  assert.equal(pinVersion(catalogue, all[0]!, day(6)).pinned_at, "2026-11-06T03:00:00Z");
  assert.equal(pinVersion(catalogue, all[0]!, day(7)).pinned_at, "2026-11-06T03:00:00Z");
  pinVersion(catalogue, all[4]!, day(7));
  for (const isDryRun of [true, false]) {
    const order = { keep: 2, isDryRun, nowMilliseconds: day(30) };
    const { removed, pinned, failures } = prune(catalogue, order);
    assert.deepEqual(
      removed.map(({ version }) => version),
      all.slice(1, 3),
    );
    assert.deepEqual(
      pinned.map(({ version }) => version),
      [all[0]],
    );
    assert.deepEqual(failures, []);
  }
  assert.deepEqual(versions(catalogue), [all[0], all[3], all[4]]);
  publishVersion(catalogue, { version: all[0]!, discardsNewer: false, nowMilliseconds: day(8) });
  publishVersion(catalogue, { version: all[4]!, discardsNewer: false, nowMilliseconds: day(9) });
  assert.notEqual(catalogue.find(all[0]!).pinned_at, null, "to publish it ends no pin");
  assert.equal(pinVersion(catalogue, all[0]!, null).pinned_at, null);
  assert.deepEqual(pruned(catalogue, 2), [all[0]]);
  assert.throws(() => pinVersion(catalogue, all[0]!, day(9)), /There is no dataset/);
});

test("a staged dataset that is pinned stays when it is outdated", async (t) => {
  const catalogue = temporaryCatalogue(t);
  await published(catalogue, 1);
  const order = { isStaged: true, nowMilliseconds: day(2) };
  const { staged } = await importRecords(catalogue, [gp("x")], order);
  pinVersion(catalogue, staged!.version, day(2));
  await importRecords(catalogue, [gp("y")], { nowMilliseconds: day(3) });
  assert.deepEqual(pruned(catalogue, 9), []);
  pinVersion(catalogue, staged!.version, null);
  assert.deepEqual(pruned(catalogue, 9), [staged!.version]);
});

test("with 0 every dataset that was published stays", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const all = await published(catalogue, 4);
  assert.deepEqual(pruned(catalogue, 0), []);
  assert.deepEqual(versions(catalogue), all);
});

test("unasked, an outdated staged dataset goes only with the published ones of its time", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const [first] = await published(catalogue, 1);
  const order = { isStaged: true, nowMilliseconds: day(2) };
  const { version } = (await importRecords(catalogue, [gp("x")], order)).staged!;
  for (const number of [3, 4, 5])
    await importRecords(catalogue, [gp(`g${number}`)], { nowMilliseconds: day(number) });
  const unasked = (keep: number) =>
    prune(catalogue, {
      keep,
      isAutomatic: true,
      isDryRun: false,
      nowMilliseconds: day(30),
    }).removed.map((one) => one.version);
  assert.deepEqual(unasked(9), []);
  assert.deepEqual(unasked(3), [first]);
  const third = catalogue.list()[1]!.version;
  assert.deepEqual(unasked(2), [version, third]);
});

test("what cannot be removed is told and keeps nothing else from being removed", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const all = await published(catalogue, 4);
  const path = catalogue.pathOf(all[0]!);
  rmSync(path);
  mkdirSync(join(path, "not-empty"), { recursive: true });
  const order = { keep: 1, isDryRun: false, nowMilliseconds: day(30) };
  const { removed, failures } = prune(catalogue, order);
  assert.deepEqual(
    failures.map(({ version }) => version),
    [all[0]],
  );
  assert.match(failures[0]!.error.message, /directory/);
  assert.deepEqual(
    removed.map(({ version }) => version),
    all.slice(1, 3),
  );
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
