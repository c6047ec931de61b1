import assert from "node:assert/strict";
import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { Catalogue } from "#datasets/catalogue.ts";
import {
  followCurrent,
  type Follower,
  freeAfterMilliseconds,
  tryAgainMilliseconds,
} from "#datasets/follow-current.ts";
import { type Load, loadAhead } from "#datasets/start-load.ts";
import { buffersIn } from "#datasets/stored-arrays.ts";
import { importRecords, rollBack, temporaryCatalogue } from "../support/dataset.ts";
import { day, filesOf, gp, imported } from "./published.ts";

/** A follower with a clock of its own, what it has told so far, and the version it serves. */
async function follow(t: TestContext, catalogue: Catalogue) {
  const told: string[] = [];
  const clock = { now: 0 };
  const follower = followCurrent({
    catalogue,
    onModel: ({ parts }) => void told.push(parts.version),
    onFault: ({ message }) => void told.push(message),
    now: () => clock.now,
  });
  t.after(() => follower.close());
  await follower.look();
  return { follower, clock, told, served: () => versionOf(follower) };
}

const bounds = { limit: 1, offset: 0 };
const versionOf = (follower: Follower) => follower.model()?.parts.version ?? null;
const publish = async (catalogue: Catalogue, name: string, dayNumber: number) =>
  (await importRecords(catalogue, [gp(name)], { nowMilliseconds: day(dayNumber) })).published!
    .version;

/** A follower that serves a first dataset, with one GP. */
async function followOne(t: TestContext) {
  const catalogue = temporaryCatalogue(t);
  const first = await publish(catalogue, "a", 1);
  return { catalogue, first, ...(await follow(t, catalogue)) };
}

test("a follower serves the current generation from the start, takes a new one over, and goes back to the one before", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const first = await publish(catalogue, "a", 1);
  const before = filesOf(catalogue);
  const { follower, told, served } = await follow(t, catalogue);
  assert.deepEqual(filesOf(catalogue), before, "nothing changes on disk");
  const model = follower.model()!;
  assert.equal(served(), first);
  const second = await publish(catalogue, "b", 2);
  assert.equal(served(), first);
  await follower.look();
  assert.equal(served(), second);
  const find = (name: string, of = model) => of.select("gp", { gp_name: name }, bounds).total;
  assert.deepEqual([find("a"), find("b")], [1, 0], "who has the old model can go on with it");
  await rollBack(catalogue, day(3));
  await follower.look();
  assert.equal(served(), first);
  assert.equal(find("a", follower.model()!), 1);
  assert.deepEqual(told, [first, second, first]);
});

test("what was read ahead is served where it is still current, and ended where it is not", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const followFrom = async (ahead: Load) => {
    const onFault = ({ message }: Error) => assert.fail(message);
    const follower = followCurrent({ catalogue, ahead, onModel() {}, onFault, now: () => 0 });
    t.after(() => follower.close());
    await follower.look();
    return follower.model()!.parts.version;
  };
  const first = await publish(catalogue, "a", 1);
  const current = loadAhead(catalogue)!;
  t.after(current.stop);
  assert.equal(await followFrom(current), first);
  assert.equal((await current.loaded).parts.version, first);

  const outdated = loadAhead(catalogue)!;
  t.after(outdated.stop);
  const second = await publish(catalogue, "b", 2);
  assert.equal(await followFrom(outdated), second);
});

test("nothing is read ahead where nothing is published, or the pointer cannot be read", async (t) => {
  const catalogue = temporaryCatalogue(t);
  assert.equal(loadAhead(catalogue), null);
  await publish(catalogue, "a", 1);
  writeFileSync(join(catalogue.folder, "current"), "not a version");
  assert.equal(loadAhead(catalogue), null);
});

test("a look at a pointer that has not moved loads nothing", async (t) => {
  const { follower, told } = await followOne(t);
  const model = follower.model();
  await Promise.all([follower.look(), follower.look()]);
  await follower.look();
  assert.equal(follower.model(), model);
  assert.equal(told.length, 1);
});

test("a follower of an empty folder serves nothing, reports nothing, and takes the first generation over", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const { follower, told, served } = await follow(t, catalogue);
  assert.deepEqual([served(), told], [null, []]);
  const first = await publish(catalogue, "a", 1);
  await follower.look();
  assert.equal(served(), first);
});

test("a fault that recurs after another dataset was served is reported again", async (t) => {
  const catalogue = await imported(t, [gp("a")], [gp("b")]);
  const [first, second] = catalogue.list().map(({ version }) => version);
  appendFileSync(catalogue.pathOf(second!), "x");
  const { follower, told } = await follow(t, catalogue);
  for (const version of [first!, second!]) {
    catalogue.publish(version, "2026-11-09T00:00:00Z");
    await follower.look();
  }
  assert.equal(told[1], first);
  assert.equal(told[2], told[0]);
});

test("a follower keeps what it serves when the new generation cannot be read or the pointer or its file is gone or damaged, and says each once", async (t) => {
  const { catalogue, first, follower, told, served } = await followOne(t);
  const second = await publish(catalogue, "b", 2);
  const pointer = join(catalogue.folder, "current");
  for (const damage of [
    () => appendFileSync(catalogue.pathOf(second), "x"),
    () => writeFileSync(pointer, "latest"),
    () => writeFileSync(pointer, "20260101T000000Z-00000000\n"),
    () => rmSync(pointer),
    () => rmSync(catalogue.folder, { recursive: true }),
  ]) {
    damage();
    await follower.look();
    await follower.look();
    assert.equal(served(), first);
  }
  assert.equal(told.length, 4);
  assert.match(told[1]!, new RegExp(`${second}.sqlite is not the file that was published`));
  assert.match(told[2]!, /does not name a dataset/);
  assert.match(told[3]!, /There is no dataset/);
});

test("what could not be loaded is tried again after a minute, and its fault told once", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const version = await publish(catalogue, "a", 1);
  const path = catalogue.pathOf(version);
  const sound = readFileSync(path);
  appendFileSync(path, "x");
  const { follower, clock, told, served } = await follow(t, catalogue);
  clock.now = tryAgainMilliseconds;
  await follower.look();
  assert.equal(told.length, 1);
  writeFileSync(path, sound);
  clock.now = 2 * tryAgainMilliseconds - 1;
  await follower.look();
  assert.equal(served(), null);
  clock.now++;
  await follower.look();
  assert.equal(served(), version);
  assert.equal(told.length, 2);
});

test("a follower that is closed while it loads ends at once, takes nothing over and reports nothing", async (t) => {
  const { catalogue, first, follower, told, served } = await followOne(t);
  await publish(catalogue, "b", 2);
  const look = follower.look();
  await follower.close();
  await look;
  assert.equal(served(), first);
  assert.deepEqual(told, [first]);
});

/** A follower that has just taken a second dataset over, and the model and the memory of the first. */
async function followReplaced(t: TestContext) {
  const { catalogue, first, follower, clock, told } = await followOne(t);
  const model = follower.model()!;
  const memory = buffersIn(model.parts);
  await publish(catalogue, "b", 2);
  await follower.look();
  const freed = () => memory.filter(({ detached }) => detached).length;
  return { catalogue, first, follower, clock, told, model, memory, freed };
}

test("the memory of a replaced dataset is given back after two seconds, all of it, and not before", async (t) => {
  const { follower, clock, memory, freed } = await followReplaced(t);
  clock.now = freeAfterMilliseconds - 1;
  await follower.look();
  assert.equal(freed(), 0);
  clock.now++;
  await follower.look();
  assert.equal(freed(), memory.length);
  const { parts } = follower.model()!;
  assert.ok(buffersIn(parts).every(({ detached }) => !detached));
  assert.equal(follower.model()!.select("gp", { gp_name: "b" }, bounds).total, 1);
});

test("the memory of a replaced dataset is given back before another one is loaded, however soon", async (t) => {
  const { catalogue, follower, memory, freed, told } = await followReplaced(t);
  await publish(catalogue, "c", 3);
  const look = follower.look();
  assert.equal(freed(), memory.length);
  await look;
  assert.equal(told.length, 3);
});

test("a dataset for which there is too little memory leaves the one before it", async (t) => {
  const { catalogue, follower, clock } = await followOne(t);
  await publish(catalogue, "b", 2);
  const mock = t.mock.method(globalThis, "Int32Array", function () {
    throw new RangeError("Array buffer allocation failed");
  });
  await follower.look();
  mock.mock.restore();
  clock.now = freeAfterMilliseconds;
  await follower.look();
  assert.equal(follower.model()!.select("gp", { gp_name: "a" }, bounds).total, 1);
});

test("a model whose memory was given back refuses every question and names its dataset", async (t) => {
  const { follower, clock, first, model } = await followReplaced(t);
  clock.now = freeAfterMilliseconds;
  await follower.look();
  for (const ask of [
    () => model.parts,
    () => model.select("gp", { gp_name: "a" }, bounds),
    () => model.select("signal", {}, bounds),
    () => model.prepare("signal", { type: ["news"] }).next(),
    () => model.values("gp", "tag"),
    () => model.count("gp", "tag", ["core"], {}),
    () => model.suggestionsFor({ kind: "gp", parameter: "gp_name", value: "x", folded: "x" }),
  ])
    assert.throws(ask, { message: new RegExp(`dataset ${first} was replaced`) });
});
