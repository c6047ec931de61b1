import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { TestContext } from "node:test";
import { openPublications } from "#datasets/publications.ts";
import { entriesOf } from "../support/dataset.ts";
import { databaseWorld } from "../support/dataset-worlds.ts";
import { eventually } from "../support/eventually.ts";
import { applyStep, hashOf } from "../support/mirror.ts";
import { onPostgres as test, runSql } from "../support/postgres.ts";
import { follow, machine } from "../support/shared-datasets.ts";
import { backOn, importOn, published } from "./commands.ts";
import { recordsOf } from "./histories.ts";
import { day, gp, signal } from "./published.ts";

/** A busy machine may take so many milliseconds. */
const patience = 60_000;

/** What a server of a machine of its own has in its folder. */
function serverOn(t: TestContext, url: string) {
  const { cache, store } = machine(t, url);
  follow(t, { cache, store });
  const publications = openPublications(cache.catalogue.folder);
  const list = () => publications.list(cache.catalogue.currentVersion());
  return { cache, store, publications, list };
}

test("what is published on one machine, and gone back from on another, comes to every server with its steps", async (t) => {
  const one = await databaseWorld(t);
  const other = { ...one, store: await one.another() };
  const { version: first } = await importOn(one, 1, ["a", "b"]);
  const records = [gp("b", { former_ids: ["a"] }), signal("s", { gps: ["b"] })];
  const { version: second } = await importOn(other, 2, [], { entries: entriesOf(records) });
  const server = serverOn(t, one.url);
  const { publications } = server;
  const follows = async (versions: readonly string[]) =>
    eventually(
      () =>
        assert.deepEqual(
          server.list().map(({ version }) => version),
          versions,
        ),
      patience,
    );
  await follows([first, second]);
  await backOn(one, 3);
  await follows([first, second, first]);
  assert.deepEqual(one.warnings, []);
  await eventually(() => assert.ok(publications.openStep(first, second) !== null), patience);
  const mirror = recordsOf(one.catalogue, first);
  for (const [from, to] of [
    [first, second],
    [second, first],
  ] as const) {
    const head = applyStep(mirror, readFileSync(publications.stepPath(from, to), "utf8"));
    assert.deepEqual([head["to"], head["to_hash"]], [to, hashOf(mirror)]);
    assert.equal(publications.openStep(from, to)!.changes, head["changes"]);
  }
});

test("a stored step that is damaged keeps no server from what is current", async (t) => {
  const one = await databaseWorld(t);
  const { version: first } = await importOn(one, 1, ["a"]);
  const { version: second } = await importOn(one, 2, ["a", "b"]);
  await runSql(
    one.url,
    "update dataset_part set bytes = substring(bytes for 20) where name like '%..%'",
  );
  const server = serverOn(t, one.url);
  await eventually(() => assert.equal(server.cache.catalogue.currentVersion(), second), patience);
  assert.equal(server.publications.openStep(first, second), null);
  assert.equal(server.list().at(-1)!.step!.changes, 1);
});

test("old publications go with their steps from the database and from each folder; with CHANGES_DAYS=0 all do, and none is written", async (t) => {
  const one = await databaseWorld(t);
  await published(one, 3);
  await one.setTime(day(3) + 400 * (day(2) - day(1)));
  const stepsIn = () => runSql(one.url, "select name from dataset_file where name like '%..%'");
  assert.equal((await stepsIn()).length, 2);
  await one.store.forgetSteps();
  assert.equal((await stepsIn()).length, 1);
  const off = { ...one, store: await one.another(0) };
  await importOn(off, 4, ["a"]);
  await off.store.forgetSteps();
  assert.deepEqual([await stepsIn(), await one.store.publications()], [[], []]);
});

test("a server keeps the step that a command on its folder is storing, and deletes those of forgotten publications", async (t) => {
  const one = await databaseWorld(t);
  const { version: first } = await importOn(one, 1, ["a"]);
  const { version: second } = await importOn(one, 2, ["a", "b"]);
  const { cache, store, publications, list } = serverOn(t, one.url);
  const hasStep = () => publications.openStep(first, second) !== null;
  await eventually(() => assert.ok(hasStep()), patience);
  const path = publications.stepPath(second, "20270101T000000Z-00000000");
  writeFileSync(path, "");
  await follow(t, { cache, store }).settled();
  const { version: third } = await importOn(one, 3, ["b"]);
  await eventually(() => assert.equal(cache.catalogue.currentVersion(), third), patience);
  await one.setTime(day(3) + 400 * (day(2) - day(1)));
  await one.store.forgetSteps();
  await importOn(one, 4, ["a"]);
  await eventually(() => assert.equal(list().length, 2), patience);
  await eventually(() => assert.ok(!hasStep()), patience);
  assert.ok(existsSync(path));
});

test("a count of a kind that an older program did not know is 0", async (t) => {
  const one = await databaseWorld(t);
  await published(one, 2);
  await runSql(one.url, "update dataset set facts = facts::jsonb #- '{records,project}'");
  await runSql(
    one.url,
    "update dataset_state set publications = publications::jsonb #- '{-1,step,counts,project}'",
  );
  const current = (await one.store.read()).current()!;
  assert.equal(current.records.project, 0);
  const { step } = (await one.store.publications()).at(-1)!;
  assert.deepEqual(step!.counts.project, { added: 0, changed: 0, removed: 0, merged: 0 });
});
