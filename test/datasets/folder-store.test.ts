import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatasetFault } from "#datasets/dataset-fault.ts";
import { onFolder as test } from "../support/dataset-worlds.ts";
import {
  backOn,
  currentOf,
  importOn,
  prunedOf,
  published,
  publishOn,
  stageOn,
} from "./commands.ts";
import { filesOf } from "./published.ts";

test("who cannot clear what a killed import left says so and keeps no lock", async (world) => {
  const { store, catalogue } = world;
  const path = join(catalogue.folder, ".draft.json");
  mkdirSync(path);
  await assert.rejects(store.take(), { code: "EISDIR" });
  rmSync(path, { recursive: true });
  const release = await store.take();
  await release();
});

test("a rollback skips datasets that were never current, and needs a current one", async (world) => {
  const { catalogue } = world;
  await assert.rejects(backOn(world, 1), DatasetFault);
  const [first, second] = await published(world, 3);
  const path = join(catalogue.folder, `${second}.json`);
  writeFileSync(path, JSON.stringify({ ...catalogue.find(second!), published_at: null }));
  assert.equal(await backOn(world, 4), first);
});

// A database stores the file apart from this machine, and fetches it again.
test("a file that is not what was built is never made current, and the pointer stays", async (world) => {
  const [first, second] = await published(world, 2);
  const path = world.catalogue.pathOf(first!);
  truncateSync(path, statSync(path).size - 1);
  const words = new RegExp(`${first}\\.sqlite .*published`);
  await assert.rejects(backOn(world, 3), words);
  await assert.rejects(publishOn(world, 3, first!), words);
  assert.equal(await currentOf(world), second);
});

test("a pointer that names no version is a fault, never an empty folder, and is mended by publishing what was served, as roll back says", async (world) => {
  const { catalogue } = world;
  const [, second] = await published(world, 2);
  const staged = await stageOn(world, 3, ["c"]);
  const words = new RegExp(
    `does not name a dataset\\. Run 'gp-records datasets publish ${second}'`,
  );
  for (const text of ["", "\n", "latest", "../x"]) {
    writeFileSync(join(catalogue.folder, "current"), text);
    assert.throws(() => catalogue.current(), words);
    for (const command of [
      () => backOn(world, 4),
      () => publishOn(world, 4, staged.version),
      () => importOn(world, 4, ["d"]),
    ])
      await assert.rejects(command, words);
  }
  await publishOn(world, 4, second!);
  assert.match(
    world.warnings.join("\n"),
    new RegExp(`${second} is being published, but could not be added to the list for /changes`),
  );
  assert.equal((await publishOn(world, 5, staged.version)).published_after, second);
  rmSync(join(catalogue.folder, "current"));
  await assert.rejects(backOn(world, 6), /No published dataset comes before the current one/);
});

test("the newest stay and the older ones go with both their files", async (world) => {
  const { catalogue } = world;
  const all = await published(world, 5);
  assert.deepEqual(await prunedOf(world, { keep: 2 }), all.slice(0, 3));
  assert.deepEqual(readdirSync(catalogue.folder).toSorted(), [
    `${all[3]}.json`,
    `${all[3]}.sqlite`,
    `${all[4]}.json`,
    `${all[4]}.sqlite`,
    "changes",
    "current",
  ]);
  assert.deepEqual(await prunedOf(world, { keep: 2 }), []);
});

test("nothing is pruned while the pointer names nothing that is there", async (world) => {
  const { catalogue } = world;
  const all = await published(world, 3);
  rmSync(catalogue.pathOf(all[2]!));
  const files = Object.keys(filesOf(catalogue));
  await assert.rejects(prunedOf(world, {}), new RegExp(`no dataset '${all[2]}'`));
  assert.deepEqual(Object.keys(filesOf(catalogue)), files);
});

test("what a killed prune left is cleared, and strange files are left alone", async (world) => {
  const { catalogue } = world;
  const all = await published(world, 3);
  rmSync(catalogue.pathOf(all[0]!));
  const strays = ["notes.json", "20260101T000000Z-ffffffff.sqlite", "x.tmp"];
  for (const name of strays) writeFileSync(join(catalogue.folder, name), "mine");
  assert.deepEqual(await prunedOf(world, { keep: 5 }), []);
  assert.equal(existsSync(join(catalogue.folder, `${all[0]}.json`)), false);
  for (const name of strays) assert.ok(existsSync(join(catalogue.folder, name)), name);
});

test("a count of a kind that an older program did not know is 0", async (world) => {
  const { store, catalogue } = world;
  const [version] = (await published(world, 2)).toReversed();
  const inFile = (path: string, change: (facts: any) => void) => {
    const facts = JSON.parse(readFileSync(path, "utf8"));
    change(facts);
    writeFileSync(path, JSON.stringify(facts));
  };
  inFile(join(catalogue.folder, `${version}.json`), ({ records }) => delete records.project);
  inFile(join(catalogue.folder, "changes", "publications.json"), (list) => {
    delete list.at(-1).step.counts.project;
  });
  const records = { gp: 1, principal: 0, signal: 0, project: 0 };
  assert.deepEqual((await store.read()).find(version!).records, records);
  const { step } = (await store.publications()).at(-1)!;
  const none = { added: 0, changed: 0, removed: 0, merged: 0 };
  assert.deepEqual(step!.counts, {
    gp: { ...none, added: 1, removed: 1 },
    principal: none,
    signal: none,
    project: none,
  });
});
