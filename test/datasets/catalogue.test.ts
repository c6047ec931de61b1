import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openCatalogue, type Catalogue } from "#datasets/catalogue.ts";
import { versionShape } from "#datasets/generation.ts";
import { openCache } from "#datasets/dataset-cache.ts";
import { hashFile } from "#datasets/dataset-hash.ts";
import {
  entriesOf,
  importRecords,
  openCurrent,
  rollBack,
  temporaryCatalogue,
} from "../support/dataset.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { day, filesOf, gp, importDaily, importEntries, threeGenerations } from "./published.ts";

const versions = (catalogue: Catalogue) => catalogue.list().map(({ version }) => version);
const on = (nowMilliseconds: number) => ({ nowMilliseconds });

test("an empty folder has no current generation, and the facts of one match its file", async (t) => {
  const catalogue = temporaryCatalogue(t);
  assert.deepEqual(
    [catalogue.current(), catalogue.currentVersion(), catalogue.list()],
    [null, null, []],
  );
  await importDaily(catalogue, [gp("a")], [gp("b")], [gp("c")]);
  const generation = catalogue.current()!;
  const before = catalogue.list().at(-2);
  assert.match(generation.version, versionShape);
  const { sha256, bytes } = hashFile(catalogue.pathOf(generation.version));
  assert.deepEqual(generation, {
    version: generation.version,
    hash: generation.hash,
    sha256,
    bytes,
    records: { gp: 1, principal: 0, signal: 0, project: 0 },
    reports: {},
    built_at: "2026-11-03T03:00:00Z",
    built_from: before!.version,
    published_at: "2026-11-03T03:00:00Z",
    published_after: before!.version,
    pinned_at: null,
  });
});

test("a dataset goes with the files that were exported of it, and no other", async (t) => {
  const [catalogue, first, second] = await threeGenerations(t);
  for (const version of [first, second]) {
    mkdirSync(join(catalogue.exportsFolder, version), { recursive: true });
    writeFileSync(join(catalogue.exportsFolder, version, "gp.csv"), "");
  }
  catalogue.remove(first);
  assert.deepEqual(readdirSync(catalogue.exportsFolder), [second]);
  assert.equal(versions(catalogue).includes(first), false);
});

test("publish moves the pointer, notes the time, and changes nothing else", async (t) => {
  const [catalogue, first] = await threeGenerations(t);
  const before = filesOf(catalogue);
  const generation = catalogue.publish(first, "2026-11-09T00:00:00Z");
  const { [`${first}.json`]: facts, current, ...rest } = filesOf(catalogue);
  const { [`${first}.json`]: oldFacts, current: _, ...oldRest } = before;
  assert.deepEqual(rest, oldRest);
  assert.equal(current, `${first}\n`);
  assert.deepEqual(JSON.parse(facts!), {
    ...JSON.parse(oldFacts!),
    published_at: "2026-11-09T00:00:00Z",
  });
  assert.deepEqual(generation, catalogue.current());
});

test("versions sort by time when two builds share a second, and when the clock is set back", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const built: string[] = [];
  for (const [i, time] of [day(2), day(2), day(2) + 999, day(1), 0].entries())
    built.push((await importRecords(catalogue, [gp(`g${i}`)], on(time))).published!.version);
  assert.deepEqual(versions(catalogue), built);
  const found = catalogue.list().map(({ built_at }) => built_at.slice(-3));
  assert.deepEqual(found, ["00Z", "01Z", "02Z", "03Z", "04Z"]);
});

test("what is imported after a roll-back is younger than what was rolled back, and replaces no file", async (t) => {
  const catalogue = temporaryCatalogue(t);
  await importRecords(catalogue, [gp("a")], on(day(1)));
  const bad = await importRecords(catalogue, [gp("b")], on(day(1)));
  const file = readFileSync(catalogue.pathOf(bad.published!.version));
  await rollBack(catalogue, day(1));
  const same = await importRecords(catalogue, [gp("b")], on(day(1)));
  assert.equal(same.published!.hash, bad.published!.hash);
  assert.ok(same.published!.version > bad.published!.version);
  assert.equal(versions(catalogue).length, 3);
  assert.deepEqual(readFileSync(catalogue.pathOf(bad.published!.version)), file);
});

test("a generation whose file is gone is not listed, published or gone back to", async (t) => {
  const [catalogue, first, second, third] = await threeGenerations(t);
  rmSync(catalogue.pathOf(second));
  assert.deepEqual(versions(catalogue), [first, third]);
  assert.throws(() => catalogue.publish(second, ""), /There is no dataset/);
  assert.equal(catalogue.currentVersion(), third);
  assert.equal((await rollBack(catalogue, day(4))).version, first);
});

test("a draft that cannot be staged is an error, and leaves nothing behind", async (t) => {
  const [catalogue] = await threeGenerations(t);
  const before = filesOf(catalogue);
  const generation = { ...catalogue.current()!, version: "20261201T000000Z-00000000" };
  assert.throws(() => catalogue.stage(catalogue.pathOf("missing"), generation), /ENOENT/);
  assert.deepEqual(filesOf(catalogue), before);
});

test(
  "folders have mode 0700 and files 0600, the draft too",
  { skip: process.platform === "win32" },
  async (t) => {
    const outer = join(temporaryFolder(t), "data");
    const catalogue = openCatalogue(join(outer, "datasets"));
    const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
    let draftMode = "";
    function* entries() {
      yield* entriesOf([gp("a")]);
      draftMode = modeOf(join(catalogue.folder, ".draft.sqlite"));
    }
    await importEntries(catalogue, entries());
    assert.equal(draftMode, "600");
    assert.deepEqual([outer, catalogue.folder].map(modeOf), ["700", "700"]);
    const names = readdirSync(catalogue.folder);
    assert.equal(names.length, 3);
    for (const name of names) assert.equal(modeOf(join(catalogue.folder, name)), "600", name);
  },
);

test("any folder will do: spaces, per cent, question mark, hash, umlauts", async (t) => {
  const catalogue = openCatalogue(join(temporaryFolder(t), "a b%20?c#d&ü=1"));
  await importDaily(catalogue, [gp("a")], [gp("b")], [gp("c")]);
  assert.equal(openCurrent(catalogue).parts.documents.gp.ownLengths.length, 1);
  assert.equal(versions(catalogue).length, 3);
});

test("a folder that has datasets of its own does not become a cache, in which they would be deleted", async (t) => {
  const folder = join(temporaryFolder(t), "datasets");
  const { published } = await importRecords(openCatalogue(folder), [gp("a")]);
  assert.throws(() => openCache(folder), {
    message: new RegExp(`${folder} has datasets of its own, such as ${published!.version}`),
  });
  assert.ok(existsSync(openCatalogue(folder).pathOf(published!.version)));
});
