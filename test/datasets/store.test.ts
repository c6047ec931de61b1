import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Catalogue } from "#datasets/catalogue.ts";
import type { Kept } from "#datasets/dataset-cache.ts";
import { rollBack } from "#datasets/choose.ts";
import { openPublications } from "#datasets/publications.ts";
import { forEachWorld as test } from "../support/dataset-worlds.ts";
import { add, buildDatasets } from "../support/shared-datasets.ts";
import {
  backOn,
  currentOf,
  importOn,
  pinOn,
  prunedOf,
  pruneOn,
  published,
  publishOn,
  stageOn,
  versionsOf,
} from "./commands.ts";
import { day, documents, filesOf, gp } from "./published.ts";

const names = (catalogue: Catalogue) => documents(catalogue, "gp").map(({ name }) => name);

test("a staged dataset is built and whole but not served until it is published", async (world) => {
  const { store, catalogue } = world;
  const first = await importOn(world, 1, ["a"]);
  const staged = await stageOn(world, 2, ["a", "b"]);
  assert.equal(await currentOf(world), first.version);
  assert.deepEqual((await store.read()).find(staged.version), staged);
  assert.deepEqual(
    [staged.built_from, staged.published_at, staged.published_after],
    [first.version, null, null],
  );
  const { published_at, published_after } = await publishOn(world, 3, staged.version);
  assert.deepEqual([published_at, published_after], ["2026-11-03T03:00:00Z", first.version]);
  assert.deepEqual(names(catalogue), ["a", "b"]);
});

test("the first dataset can be staged too", async (world) => {
  const staged = await stageOn(world, 1, ["a"]);
  assert.equal(await currentOf(world), null);
  await publishOn(world, 2, staged.version);
  assert.equal(await currentOf(world), staged.version);
});

test("a staged dataset that lacks what was published since is refused, unless that may be given up", async (world) => {
  const { catalogue } = world;
  const base = await importOn(world, 1, ["a"]);
  const staged = await stageOn(world, 2, ["a", "b"]);
  const other = { ...world, store: await world.another() };
  const newer = await importOn(other, 3, ["a", "c"]);
  const files = filesOf(catalogue);
  const message = new RegExp(
    `^The dataset ${staged.version} was not published: it was built when ${base.version} was current, but ${newer.version} is current now, .* --discard-newer to publish it anyway and lose those changes\\.$`,
  );
  await assert.rejects(publishOn(world, 4, staged.version), { message });
  assert.deepEqual(filesOf(catalogue), files);
  await publishOn(world, 4, staged.version, true);
  assert.deepEqual(names(catalogue), ["a", "b"]);
});

test("a dataset that was current once may be published again whatever is current now", async (world) => {
  const { store, catalogue } = world;
  const first = await importOn(world, 1, ["a"]);
  const second = await importOn(world, 2, ["b"]);
  await publishOn(world, 3, first.version);
  assert.deepEqual(names(catalogue), ["a"]);
  assert.equal((await store.read()).current()!.published_after, null);
  await publishOn(world, 4, second.version);
  assert.equal((await store.read()).current()!.published_after, first.version);
});

test("a draft that was added is no dataset until it is published, naming the version before", async (world, t) => {
  const { store, catalogue } = world;
  const [one, two] = await buildDatasets(t, [gp("a")], [gp("b")]);
  await world.setTime(day(1));
  const first = await add(store, one!);
  assert.deepEqual([await versionsOf(world), await currentOf(world)], [[], null]);
  assert.equal((await store.publish(first, null, null)).published_after, null);
  const second = await add(store, two!);
  assert.deepEqual(await versionsOf(world), [first]);
  await assert.rejects(store.publish(second, null, null), {
    message: new RegExp(`^${second} was not published, .*before: none; now: ${first}\\)\\.`),
  });
  assert.equal(await currentOf(world), first);
  assert.equal((await store.publish(second, first, null)).published_after, first);
  assert.deepEqual(await versionsOf(world), [first, second]);
  assert.deepEqual(readFileSync(await store.open(second)), readFileSync(two!.path));
  assert.equal(catalogue.currentVersion(), second);
});

test("a draft that was added and is not published goes", async (world, t) => {
  const { store } = world;
  const [one] = await buildDatasets(t, [gp("a")]);
  const version = await add(store, one!);
  await store.remove(version);
  await assert.rejects(store.publish("20260101T000000Z-00000000", null, null), /There is no/);
  const { added = [] } = (await store.read()) as Partial<Kept>;
  assert.deepEqual([await versionsOf(world), added], [[], []]);
});

test("a version that is not there or invalid is neither published nor pinned, and never becomes part of a path", async (world) => {
  const { store, catalogue } = world;
  await published(world, 1);
  const before = filesOf(catalogue);
  for (const version of ["20260101T000000Z-00000000", "", "none", "../control", "current"]) {
    const refused = {
      name: "DatasetFault",
      message: new RegExp(`There is no dataset '${version}'`),
    };
    await assert.rejects(store.publish(version, null, null), refused);
    await assert.rejects(store.pin(version, true), refused);
    await assert.rejects(store.open(version), refused);
    assert.throws(() => catalogue.find(version), refused);
  }
  assert.deepEqual(filesOf(catalogue), before);
});

test("the current dataset is never removed", async (world) => {
  const [older, current] = await published(world, 2);
  await assert.rejects(world.store.remove(current!), /is the current dataset/);
  await world.store.remove(older!);
  assert.deepEqual(await versionsOf(world), [current]);
});

test("one import at a time: a second one is told that there is another, and on PostgreSQL which one and since when", async (world) => {
  await world.setTime(day(1));
  const other = await world.another();
  const release = await world.store.take();
  await assert.rejects(other.take(), {
    kind: "busy",
    message: new RegExp(
      `^Another command is changing the datasets in (${dirname(world.catalogue.folder)}|.*: process ${process.pid} on .+, since \\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ)\\. Try again when it has finished\\.$`,
    ),
  });
  await release();
  await (
    await other.take()
  )();
});

test("what one command publishes another finds, and goes back from", async (world) => {
  const [older, current] = await published(world, 2);
  const other = await world.another();
  const { publications } = other;
  assert.deepEqual(
    (await publications()).map(({ version, from, step }) => [version, from, step?.changes]),
    [
      [older, null, undefined],
      [current, older, 2],
    ],
  );
  await world.setTime(day(3));
  assert.equal((await rollBack(other)).version, older);
  assert.equal(await currentOf(world), older);
  assert.equal((await publications()).at(-1)!.from, current);
  assert.deepEqual((await other.check(older!)).fault, null);
});

test("old publications go with their steps, the newest stays, and with CHANGES_DAYS=0 all go", async (world) => {
  const store = await world.another(2);
  const [first, second, third, fourth] = await published({ ...world, store }, 4);
  const steps = openPublications(store.folder);
  const left = join(store.folder, "changes", ".step.999999999.1.tmp");
  writeFileSync(left, "left by a killed command");
  const forgottenOn = async (number: number) => {
    await world.setTime(day(number));
    await store.forgetSteps();
    return (await store.publications()).map(({ version }) => version);
  };
  assert.deepEqual(await forgottenOn(5), [third, fourth]);
  assert.equal(steps.openStep(first!, second!), null);
  assert.equal(steps.openStep(second!, third!)!.changes, 2);
  assert.ok(!existsSync(left));
  assert.deepEqual(await forgottenOn(30), [fourth]);
  await (await world.another(0)).forgetSteps();
  assert.deepEqual([await forgottenOn(30), steps.openStep(third!, fourth!)], [[], null]);
});

test("roll back moves the pointer to the generation before, step by step, and says where there is none", async (world) => {
  const { catalogue } = world;
  const [first, second, third] = await published(world, 3);
  const files = Object.keys(filesOf(catalogue));
  assert.equal(await currentOf(world), third);
  assert.equal(await backOn(world, 4), second);
  assert.equal(await backOn(world, 4), first);
  assert.equal(documents(catalogue, "gp")[0]!["name"], "g1");
  await assert.rejects(backOn(world, 4), /No published dataset comes before the current one/);
  assert.equal(await currentOf(world), first);
  assert.deepEqual(Object.keys(filesOf(catalogue)), files);
});

test("a rollback goes to the dataset that was served before, not to the next older version", async (world) => {
  const first = await importOn(world, 1, ["a"]);
  const staged = await stageOn(world, 2, ["b"]);
  const third = await importOn(world, 3, ["c"]);
  await publishOn(world, 4, staged.version, true);
  assert.equal(await backOn(world, 5), third.version);
  assert.equal(await backOn(world, 6), first.version);
  await assert.rejects(backOn(world, 7), /No published dataset comes before the current one/);

  const fourth = await importOn(world, 8, ["d"]);
  assert.equal(fourth.published_after, first.version);
  assert.equal(await backOn(world, 9), first.version, "and not to one that was gone back from");
});

test("where what was served before is gone, roll back goes to the youngest that is older", async (world) => {
  const [first, second] = await published(world, 3);
  await world.store.remove(second!);
  assert.equal(await backOn(world, 4), first);
});

test("the current dataset stays however old it is", async (world) => {
  const all = await published(world, 4);
  for (const _ of [1, 2, 3]) await backOn(world, 5);
  assert.equal(await currentOf(world), all[0]);
  assert.deepEqual(await prunedOf(world, {}), [all[1], all[2]]);
  assert.deepEqual(await versionsOf(world), [all[0], all[3]]);
});

test("a staged dataset stays as long as it can be published, and goes when it is outdated", async (world) => {
  const [only] = await published(world, 1);
  const [one, { version }] = [await stageOn(world, 2, ["x"]), await stageOn(world, 2, ["y"])];
  assert.deepEqual(await prunedOf(world, {}), []);
  await publishOn(world, 3, version);
  assert.deepEqual(await prunedOf(world, { keep: 2 }), [one.version]);
  assert.deepEqual(await versionsOf(world), [only, version]);
});

test("unasked, the dataset that a roll-back would go to stays however old it is", async (world) => {
  const all = await published(world, 4);
  for (const _ of [1, 2]) await backOn(world, 5);
  assert.equal(await currentOf(world), all[1]);
  assert.deepEqual(await prunedOf(world, { isAutomatic: true }), [all[2]]);
  assert.equal(await backOn(world, 30), all[0]);
});

test("a dataset that is pinned stays and is named, until it is let go", async (world) => {
  const { store } = world;
  const all = await published(world, 5);
  const other = { ...world, store: await world.another() };
  assert.equal((await pinOn(other, 6, all[0]!)).pinned_at, "2026-11-06T03:00:00Z");
  assert.equal((await pinOn(world, 7, all[0]!)).pinned_at, "2026-11-06T03:00:00Z");
  await pinOn(world, 7, all[4]!);
  for (const isDryRun of [true, false]) {
    const { removed, pinned, failures } = await pruneOn(other, 30, { keep: 2, isDryRun });
    const versions = removed.map(({ version }) => version);
    assert.deepEqual(versions, all.slice(1, 3));
    const found = pinned.map(({ version }) => version);
    assert.deepEqual(found, [all[0]]);
    assert.deepEqual(failures, []);
  }
  assert.deepEqual(await versionsOf(world), [all[0], all[3], all[4]]);
  await publishOn(world, 8, all[0]!);
  await publishOn(world, 9, all[4]!);
  const { pinned_at } = (await store.read()).find(all[0]!);
  assert.notEqual(pinned_at, null, "to publish it ends no pin");
  assert.equal((await pinOn(world, 9, all[0]!, false)).pinned_at, null);
  assert.deepEqual(await prunedOf(world, { keep: 2 }), [all[0]]);
  await assert.rejects(pinOn(world, 9, all[0]!), /There is no dataset/);
});

test("a staged dataset that is pinned stays when it is outdated", async (world) => {
  await published(world, 1);
  const staged = await stageOn(world, 2, ["x"]);
  await pinOn(world, 2, staged.version);
  await importOn(world, 3, ["y"]);
  assert.deepEqual(await prunedOf(world, { keep: 9 }), []);
  await pinOn(world, 3, staged.version, false);
  assert.deepEqual(await prunedOf(world, { keep: 9 }), [staged.version]);
});

test("with 0 every dataset that was published stays", async (world) => {
  const all = await published(world, 4);
  assert.deepEqual(await prunedOf(world, { keep: 0 }), []);
  assert.deepEqual(await versionsOf(world), all);
});

test("unasked, an outdated staged dataset goes only with the published ones of its time", async (world) => {
  const [first] = await published(world, 1);
  const { version } = await stageOn(world, 2, ["x"]);
  for (const number of [3, 4, 5]) await importOn(world, number, [`g${number}`]);
  const unasked = (keep: number) => prunedOf(world, { keep, isAutomatic: true });
  assert.deepEqual(await unasked(9), []);
  assert.deepEqual(await unasked(3), [first]);
  const third = (await versionsOf(world))[1]!;
  assert.deepEqual(await unasked(2), [version, third]);
});
