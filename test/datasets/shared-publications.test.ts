import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { TestContext } from "node:test";
import { rollBack } from "#datasets/choose.ts";
import { followShared } from "#datasets/follow-shared.ts";
import { openPublications } from "#datasets/publications.ts";
import { importSource } from "#datasets/publish.ts";
import { openStore } from "#datasets/open-store.ts";
import { type OpenStore, underLock } from "#datasets/store.ts";
import { entriesOf } from "../support/dataset.ts";
import { eventually } from "../support/eventually.ts";
import { applyStep, hashOf } from "../support/mirror.ts";
import { freshDatabase, onPostgres as test, runSql } from "../support/postgres.ts";
import { machine } from "../support/shared-datasets.ts";
import { recordsOf } from "./histories.ts";
import { day, gp, signal } from "./published.ts";

/** A busy machine may take so many milliseconds. */
const patience = 60_000;

/** Commands of one machine. */
function commands(t: TestContext, url: string, changesDays = 400) {
  const { cache, store } = machine(t, url);
  const { folder } = cache.catalogue;
  const warnings: string[] = [];
  const warn = (sentence: string) => void warnings.push(sentence);
  async function locked<R>(work: (opened: OpenStore) => Promise<R>): Promise<R> {
    const opened = await openStore({ folder, changesDays, warn, now: () => day(9) }, url);
    return underLock(opened, () => work(opened)).finally(() => opened.close());
  }
  return {
    cache,
    store,
    warnings,
    importAt: (number: number, records: readonly unknown[]) =>
      locked(async (opened) => {
        const request = { source: "own", entries: entriesOf(records), rejectedMax: { lines: 0 } };
        const rest = { isDryRun: false, nowMilliseconds: day(number), shrinkPercentMax: 100 };
        return (await importSource(opened, { ...request, ...rest })).published!.version;
      }),
    rollBack: () => locked(async (opened) => (await rollBack(opened)).version),
    forgetSteps: () => locked((opened) => opened.forgetSteps()),
  };
}

/** What a server of a machine of its own has in its folder. */
function serverOn(t: TestContext, url: string) {
  const { cache, store } = machine(t, url);
  const follower = followShared({
    store,
    cache,
    fetchesPinned: false,
    onSeen() {},
    onPointed() {},
    onFault() {},
    now: () => performance.now(),
  });
  t.after(() => follower.close());
  const publications = openPublications(cache.catalogue.folder);
  const list = () => publications.list(cache.catalogue.currentVersion());
  return { cache, publications, list };
}

test("what is published on one machine, and gone back from on another, comes to every server with its steps", async (t) => {
  const url = await freshDatabase(t);
  const [one, other] = [commands(t, url), commands(t, url)];
  const first = await one.importAt(1, [gp("a"), gp("b")]);
  const second = await other.importAt(2, [
    gp("b", { former_ids: ["a"] }),
    signal("s", { gps: ["b"] }),
  ]);
  const server = serverOn(t, url);
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
  await one.rollBack();
  await follows([first, second, first]);
  assert.deepEqual([...one.warnings, ...other.warnings], []);
  await eventually(() => assert.ok(publications.openStep(first, second) !== null), patience);
  const mirror = recordsOf(one.cache.catalogue, first);
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
  const url = await freshDatabase(t);
  const one = commands(t, url);
  const first = await one.importAt(1, [gp("a")]);
  const second = await one.importAt(2, [gp("a"), gp("b")]);
  await runSql(url, "update dataset_step_part set bytes = substring(bytes for 20)");
  const server = serverOn(t, url);
  await eventually(() => assert.equal(server.cache.catalogue.currentVersion(), second), patience);
  assert.equal(server.publications.openStep(first, second), null);
  assert.equal(server.list().at(-1)!.step!.changes, 1);
});

test("old publications go with their steps from the database and from each folder; with CHANGES_DAYS=0 all do, and none is written", async (t) => {
  const url = await freshDatabase(t);
  const one = commands(t, url);
  await one.importAt(1, [gp("a")]);
  await one.importAt(2, [gp("a"), gp("b")]);
  await one.importAt(3, [gp("a"), gp("b"), gp("c")]);
  await runSql(
    url,
    "update dataset_publication set published_at = published_at - interval '401 days' where number < 3",
  );
  const stepsIn = () => runSql(url, "select name from dataset_step");
  assert.equal((await stepsIn()).length, 2);
  await one.forgetSteps();
  assert.equal((await stepsIn()).length, 1);
  const off = commands(t, url, 0);
  await off.importAt(4, [gp("a")]);
  await off.forgetSteps();
  assert.deepEqual([await stepsIn(), await one.store.publications()], [[], []]);
});

test("a count of a kind that an older program did not know is 0", async (t) => {
  const url = await freshDatabase(t);
  const { importAt, store } = commands(t, url);
  await importAt(1, [gp("a")]);
  await importAt(2, [gp("a"), gp("b")]);
  await runSql(url, "update dataset set records = records - 'project'");
  await runSql(url, "update dataset_publication set facts = facts #- '{counts,project}'");
  const { records } = (await store.read()).current()!;
  assert.deepEqual(records, { gp: 2, principal: 0, signal: 0, project: 0 });
  const { step } = (await store.publications()).at(-1)!;
  assert.deepEqual(step!.counts.project, { added: 0, changed: 0, removed: 0, merged: 0 });
});
