import assert from "node:assert/strict";
import { rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Catalogue } from "#datasets/catalogue.ts";
import { publishVersion, rollBack } from "#datasets/choose.ts";
import { DatasetFault } from "#datasets/dataset-fault.ts";
import { importRecords, temporaryCatalogue } from "../support/dataset.ts";
import { day, documents, filesOf, gp, importDaily, threeGenerations } from "./published.ts";

const importOn = async (catalogue: Catalogue, number: number, ids: string[], isStaged = false) => {
  const records = ids.map((id) => gp(id));
  const result = await importRecords(catalogue, records, {
    nowMilliseconds: day(number),
    isStaged,
  });
  return (result.staged ?? result.published)!;
};
const publishOn = (catalogue: Catalogue, number: number, version: string, discardsNewer = false) =>
  publishVersion(catalogue, { version, discardsNewer, nowMilliseconds: day(number) });
const names = (catalogue: Catalogue) => documents(catalogue, "gp").map(({ name }) => name);

test("a staged dataset is built and whole but not served until it is published", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const first = await importOn(catalogue, 1, ["a"]);
  const staged = await importOn(catalogue, 2, ["a", "b"], true);
  assert.equal(catalogue.currentVersion(), first.version);
  assert.deepEqual(catalogue.find(staged.version), staged);
  assert.deepEqual(
    [staged.built_from, staged.published_at, staged.published_after],
    [first.version, null, null],
  );
  const { published_at, published_after } = publishOn(catalogue, 3, staged.version);
  assert.deepEqual([published_at, published_after], ["2026-11-03T03:00:00Z", first.version]);
  assert.deepEqual(names(catalogue), ["a", "b"]);
});

test("the first dataset of a folder can be staged too", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const staged = await importOn(catalogue, 1, ["a"], true);
  assert.equal(catalogue.currentVersion(), null);
  publishOn(catalogue, 2, staged.version);
  assert.equal(catalogue.currentVersion(), staged.version);
});

test("a staged dataset that lacks what was published since is refused, unless that may be given up", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const base = await importOn(catalogue, 1, ["a"]);
  const staged = await importOn(catalogue, 2, ["a", "b"], true);
  const newer = await importOn(catalogue, 3, ["a", "c"]);
  const files = filesOf(catalogue);
  const words = new RegExp(
    `^${staged.version} was built from ${base.version}, but now ${newer.version} is current.* --discard-newer\\.$`,
  );
  assert.throws(() => publishOn(catalogue, 4, staged.version), { message: words });
  assert.deepEqual(filesOf(catalogue), files);
  publishOn(catalogue, 4, staged.version, true);
  assert.deepEqual(names(catalogue), ["a", "b"]);
});

test("a dataset that was current once may be published again whatever is current now", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const first = await importOn(catalogue, 1, ["a"]);
  const second = await importOn(catalogue, 2, ["b"]);
  publishOn(catalogue, 3, first.version);
  assert.deepEqual(names(catalogue), ["a"]);
  assert.equal(catalogue.current()!.published_after, null);
  publishOn(catalogue, 4, second.version);
  assert.equal(catalogue.current()!.published_after, first.version);
});

test("roll back moves the pointer to the generation before, step by step, and says where there is none", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const [first, second, third] = await threeGenerations(catalogue);
  const files = Object.keys(filesOf(catalogue));
  assert.equal(catalogue.currentVersion(), third);
  assert.equal(rollBack(catalogue, day(4)).version, second);
  assert.equal(rollBack(catalogue, day(4)).version, first);
  assert.equal(documents(catalogue, "gp")[0]!["name"], "a");
  assert.throws(() => rollBack(catalogue, day(4)), /no dataset before the current one/);
  assert.equal(catalogue.currentVersion(), first);
  assert.deepEqual(Object.keys(filesOf(catalogue)), files);
});

test("a rollback skips datasets that were never current, and needs a current one", async (t) => {
  const catalogue = temporaryCatalogue(t);
  assert.throws(() => rollBack(catalogue, day(1)), DatasetFault);
  const [first, second] = await threeGenerations(catalogue);
  const path = join(catalogue.folder, `${second}.json`);
  writeFileSync(path, JSON.stringify({ ...catalogue.find(second), published_at: null }));
  assert.equal(rollBack(catalogue, day(4)).version, first);
});

test("a rollback goes to the dataset that was served before, not to the next older version", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const first = await importOn(catalogue, 1, ["a"]);
  const staged = await importOn(catalogue, 2, ["b"], true);
  const third = await importOn(catalogue, 3, ["c"]);
  publishOn(catalogue, 4, staged.version, true);
  const back = (number: number) => rollBack(catalogue, day(number)).version;
  assert.equal(back(5), third.version);
  assert.equal(back(6), first.version);
  assert.throws(() => back(7), /no dataset before the current one/);

  const fourth = await importOn(catalogue, 8, ["d"]);
  assert.equal(fourth.published_after, first.version);
  assert.equal(back(9), first.version, "and not to one that was gone back from");
});

test("where what was served before is gone, roll back goes to the youngest that is older", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const [first, second] = [
    await importOn(catalogue, 1, ["a"]),
    await importOn(catalogue, 2, ["b"]),
  ];
  await importOn(catalogue, 3, ["c"]);
  catalogue.remove(second.version);
  assert.equal(rollBack(catalogue, day(4)).version, first.version);
});

test("a file that is not what was built is never made current, and the pointer stays", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const first = await importOn(catalogue, 1, ["a"]);
  const second = await importOn(catalogue, 2, ["b"]);
  const path = catalogue.pathOf(first.version);
  truncateSync(path, statSync(path).size - 1);
  const words = new RegExp(`${first.version}\\.sqlite .*published`);
  assert.throws(() => rollBack(catalogue, day(3)), words);
  assert.throws(() => publishOn(catalogue, 3, first.version), words);
  assert.equal(catalogue.currentVersion(), second.version);
});

test("a pointer that names nothing is mended by publishing what was served, and roll back says how", async (t) => {
  const catalogue = temporaryCatalogue(t);
  await importDaily(catalogue, [gp("a")], [gp("b")]);
  const staged = await importOn(catalogue, 3, ["c"], true);
  const [, second] = catalogue.list();
  writeFileSync(join(catalogue.folder, "current"), "?");
  const words = new RegExp(`datasets publish ${second!.version}'`);
  assert.throws(() => rollBack(catalogue, day(4)), words);
  assert.throws(() => publishOn(catalogue, 4, staged.version), words);
  publishOn(catalogue, 4, second!.version);
  assert.equal(publishOn(catalogue, 5, staged.version).published_after, second!.version);
  rmSync(join(catalogue.folder, "current"));
  assert.throws(() => rollBack(catalogue, day(6)), /no dataset before the current one/);
});
