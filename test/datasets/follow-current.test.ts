import assert from "node:assert/strict";
import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { Catalogue } from "#datasets/catalogue.ts";
import { followCurrent, type Follower, tryAgainMilliseconds } from "#datasets/follow-current.ts";
import { rollBack } from "#datasets/choose.ts";
import { importRecords, temporaryCatalogue } from "../support/dataset.ts";
import { day, filesOf, gp, importDaily } from "./published.ts";

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

const versionOf = (follower: Follower) => follower.model()?.parts.version ?? null;
const publish = async (catalogue: Catalogue, name: string, dayNumber: number) =>
  (await importRecords(catalogue, [gp(name)], { nowMilliseconds: day(dayNumber) })).published!
    .version;

test("a follower serves the current generation from the start, and takes a new one over", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const first = await publish(catalogue, "a", 1);
  const { follower, told, served } = await follow(t, catalogue);
  assert.equal(served(), first);
  const second = await publish(catalogue, "b", 2);
  assert.equal(served(), first);
  await follower.look();
  assert.equal(served(), second);
  assert.deepEqual(told, [first, second]);
});

test("a model that was handed out stays whole when a new generation is taken over", async (t) => {
  const catalogue = temporaryCatalogue(t);
  await publish(catalogue, "a", 1);
  const { follower } = await follow(t, catalogue);
  const model = follower.model()!;
  await publish(catalogue, "b", 2);
  await follower.look();
  const find = (name: string) => model.selectGps({ name }, { limit: 1, offset: 0 }).total;
  assert.deepEqual([find("a"), find("b")], [1, 0]);
});

test("a look at a pointer that has not moved loads nothing", async (t) => {
  const catalogue = temporaryCatalogue(t);
  await publish(catalogue, "a", 1);
  const { follower, told } = await follow(t, catalogue);
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

test("a follower keeps the old generation when the new one cannot be read, and says so once", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const first = await publish(catalogue, "a", 1);
  const { follower, told, served } = await follow(t, catalogue);
  const second = await publish(catalogue, "b", 2);
  appendFileSync(catalogue.pathOf(second), "x");
  for (let i = 0; i < 3; i++) await follower.look();
  assert.equal(served(), first);
  assert.equal(told.length, 2);
  assert.match(told[1]!, new RegExp(`${second}.sqlite is not the file that was published`));
});

test("a fault that recurs after another dataset was served is reported again", async (t) => {
  const catalogue = temporaryCatalogue(t);
  await importDaily(catalogue, [gp("a")], [gp("b")]);
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

test("a follower keeps what it serves when the pointer or its file is gone or damaged, and says each once", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const first = await publish(catalogue, "a", 1);
  const { follower, told, served } = await follow(t, catalogue);
  const pointer = join(catalogue.folder, "current");
  for (const damage of [
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
  assert.equal(told.length, 3);
  assert.match(told[1]!, /does not name a dataset/);
  assert.match(told[2]!, /There is no dataset/);
});

/** A follower of the one dataset there is, whose file is damaged until it is mended. */
async function followDamaged(t: TestContext) {
  const catalogue = temporaryCatalogue(t);
  const version = await publish(catalogue, "a", 1);
  const path = catalogue.pathOf(version);
  const sound = readFileSync(path);
  appendFileSync(path, "x");
  const mend = () => writeFileSync(path, sound);
  return { catalogue, version, mend, ...(await follow(t, catalogue)) };
}

test("a repaired generation is served once it is published again", async (t) => {
  const { catalogue, version, mend, follower, told, served } = await followDamaged(t);
  assert.equal(served(), null);
  mend();
  catalogue.publish(version, "2026-11-09T00:00:00Z");
  await follower.look();
  assert.equal(served(), version);
  assert.equal(told.length, 2);
});

test("what could not be loaded is tried again after a minute, and its fault told once", async (t) => {
  const { version, mend, follower, clock, told, served } = await followDamaged(t);
  clock.now = tryAgainMilliseconds;
  await follower.look();
  assert.equal(told.length, 1);
  mend();
  clock.now = 2 * tryAgainMilliseconds - 1;
  await follower.look();
  assert.equal(served(), null);
  clock.now++;
  await follower.look();
  assert.equal(served(), version);
  assert.equal(told.length, 2);
});

test("after a roll-back a follower serves what it served before", async (t) => {
  const catalogue = temporaryCatalogue(t);
  await importDaily(catalogue, [gp("a")], [gp("b")]);
  const [first, second] = catalogue.list().map(({ version }) => version);
  const { follower, told, served } = await follow(t, catalogue);
  rollBack(catalogue, day(3));
  await follower.look();
  assert.equal(served(), first);
  assert.equal(follower.model()!.selectGps({ name: "a" }, { limit: 1, offset: 0 }).total, 1);
  assert.deepEqual(told, [second, first]);
});

test("a follower that is closed while it loads ends at once, takes nothing over and reports nothing", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const first = await publish(catalogue, "a", 1);
  const { follower, told, served } = await follow(t, catalogue);
  await publish(catalogue, "b", 2);
  const look = follower.look();
  await follower.close();
  await look;
  assert.equal(served(), first);
  assert.deepEqual(told, [first]);
});

test("following changes nothing on disk", async (t) => {
  const catalogue = temporaryCatalogue(t);
  await publish(catalogue, "a", 1);
  const before = filesOf(catalogue);
  const { follower } = await follow(t, catalogue);
  await follower.close();
  assert.deepEqual(filesOf(catalogue), before);
});
