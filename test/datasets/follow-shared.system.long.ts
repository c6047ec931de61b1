import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { Client } from "pg";
import { eventually } from "../support/eventually.ts";
import { onPostgres as test, runSql } from "../support/postgres.ts";
import { add, bulkyGps, follow, publishBuilt, twoMachines } from "../support/shared-datasets.ts";

test("what was staged on the current dataset is fetched ahead, so that publishing it only moves the pointer", async (t) => {
  const [database, importer, server, first, second] = await twoMachines(t, "a", "b");
  const one = await publishBuilt(importer.store, first);
  const { until } = follow(t, server);
  await until(`pointed ${one}`);
  const served = server.cache.catalogue.current()!;
  assert.deepEqual(served, { ...first.generation, published_at: served.published_at });
  assert.notEqual(served.published_at, null);
  await add(importer.store, second, true);
  const { version } = second.generation;
  const path = server.cache.catalogue.pathOf(version);
  await eventually(() => assert.ok(existsSync(path)));
  assert.equal(server.cache.catalogue.currentVersion(), one);
  // Gone from the database: nothing can be fetched any more.
  await runSql(database, "delete from dataset_part where name = $1", [version]);
  await importer.store.publish(version, one, null);
  await until(`pointed ${version}`);
});

test("a flipped byte in the folder is found where a dataset cannot be loaded, and it is fetched anew", async (t) => {
  const [, importer, server, first] = await twoMachines(t, "a");
  const one = await publishBuilt(importer.store, first);
  const { follower, until, told, settled } = follow(t, server);
  await until(`pointed ${one}`);
  await settled();
  const path = server.cache.catalogue.pathOf(one);
  const bytes = readFileSync(path);
  bytes[bytes.length - 5000]! ^= 1;
  writeFileSync(path, bytes);
  const from = told.length;
  follower.mend(one);
  await until(`pointed ${one}`, from);
  assert.deepEqual(readFileSync(path), readFileSync(first.path));
  // What is whole is not fetched, and nobody is told to load it again.
  await settled();
  const before = told.length;
  follower.mend(one);
  await settled();
  assert.ok(!told.slice(before).some((text) => text.startsWith("pointed")));
});

test("a folder that is to have what is pinned fetches it and keeps it, also where it was pinned long after it was current", async (t) => {
  const [, importer, server, ...built] = await twoMachines(t, "a", "b", "c", "d");
  const [one] = built.map(({ generation }) => generation.version);
  for (const each of built.slice(0, 3)) await publishBuilt(importer.store, each);
  const { catalogue } = server.cache;
  const { settled, until } = follow(t, server, true);
  const pinnedAt = (type: "string" | "undefined") =>
    eventually(() => assert.equal(typeof catalogue.findReadable(one!)?.pinned_at, type));
  await importer.store.pin(one!, true);
  await pinnedAt("string");
  const anHourAgo = new Date(Date.now() - 3_600_000);
  utimesSync(catalogue.pathOf(one!), anHourAgo, anHourAgo);
  const four = await publishBuilt(importer.store, built[3]!);
  await until(`pointed ${four}`);
  await settled();
  assert.deepEqual(readFileSync(catalogue.pathOf(one!)), readFileSync(built[0]!.path));
  await importer.store.pin(one!, false);
  await pinnedAt("undefined");
  assert.ok(!existsSync(catalogue.pathOf(one!)));
});

test("a folder keeps what is current, the one before and what comes next, and whatever was asked for lately", async (t) => {
  const [, importer, server, ...built] = await twoMachines(t, "a", "b", "c", "d", "e");
  const versions = built.map(({ generation }) => generation.version);
  const here = () =>
    readdirSync(server.cache.catalogue.folder).filter((name) => name.endsWith("sqlite"));
  const { settled, until } = follow(t, server);
  const anHourAgo = new Date(Date.now() - 3_600_000);
  for (const one of built.slice(0, 4)) {
    const version = await publishBuilt(importer.store, one);
    await until(`pointed ${version}`);
    await settled();
    for (const name of here())
      utimesSync(join(server.cache.catalogue.folder, name), anHourAgo, anHourAgo);
  }
  writeFileSync(
    join(server.cache.catalogue.folder, ".fetch.99999999.1.tmp"),
    "left by a killed process",
  );
  server.cache.touch(versions[2]!);
  await add(importer.store, built[4]!, true);
  await eventually(() =>
    assert.deepEqual(
      here(),
      [versions[2], versions[3], versions[4]].map((version) => `${version}.sqlite`),
    ),
  );
  assert.ok(!readdirSync(server.cache.catalogue.folder).some((name) => name.endsWith(".tmp")));
});

test("a fetch for which there was no room makes room for the next one", async (t) => {
  const [, importer, { cache, store }, first] = await twoMachines(t, "a");
  const leftover = join(cache.catalogue.folder, ".fetch.99999999.1.tmp");
  writeFileSync(leftover, "left by a killed process");
  const one = await publishBuilt(importer.store, first);
  const open: typeof store.open = (...order) =>
    existsSync(leftover) ? Promise.reject(new Error("ENOSPC")) : store.open(...order);
  await follow(t, { cache, store: { ...store, open } }).until(`pointed ${one}`);
});

/** From now on the fetch of a dataset never gets past its first part. @returns a function that waits for this. */
function holdFetchOf(t: TestContext, version: string) {
  const query = Client.prototype.query;
  let isHeld = false;
  t.mock.method(Client.prototype, "query", function (this: Client, ...args: any[]) {
    const [sql, values] = args as [unknown, unknown[]];
    const isSecondPart = String(sql).includes("from dataset_part") && values[1] === 1;
    if (!isSecondPart || values[0] !== version) return Reflect.apply(query, this, args);
    isHeld = true;
    return Reflect.apply(query, this, ["select pg_sleep(600)"]);
  });
  return () => eventually(() => assert.ok(isHeld));
}

/** Returns the names of files that are being fetched into a folder. */
const beingFetched = (folder: string) =>
  readdirSync(folder).filter((name) => name.startsWith(".fetch"));

test("a fetch that another publication overtakes is broken off, and the dataset that is current now comes at once", async (t) => {
  const [, importer, server, large, small] = await twoMachines(t, bulkyGps(2500), "b");
  const isHeld = holdFetchOf(t, large.generation.version);
  await publishBuilt(importer.store, large);
  const { until, told, settled } = follow(t, server);
  await isHeld();
  const { folder } = server.cache.catalogue;
  assert.equal(beingFetched(folder).length, 1);
  const version = await publishBuilt(importer.store, small);
  await until(`pointed ${version}`);
  await settled();
  assert.deepEqual(beingFetched(folder), []);
  assert.ok(
    told.every((one) => /^(?:wanted|pointed) /.test(one)),
    "no fault is reported",
  );
});

test("a fetch ahead goes on when its dataset is published meanwhile", async (t) => {
  const [, importer, server, first, second] = await twoMachines(t, "a", bulkyGps(2500));
  const one = await publishBuilt(importer.store, first);
  const isHeld = holdFetchOf(t, second.generation.version);
  const { until, told, follower } = follow(t, server);
  await until(`pointed ${one}`);
  await add(importer.store, second, true);
  await isHeld();
  const { folder } = server.cache.catalogue;
  const before = beingFetched(folder);
  assert.equal(before.length, 1);
  const { version } = second.generation;
  await importer.store.publish(version, one, null);
  const from = told.length;
  await until(`wanted ${version}`, from);
  await until(`wanted ${version}`, told.length);
  assert.deepEqual(beingFetched(folder), before);
  // A server that stops does not wait for it.
  await follower.close();
  assert.deepEqual(beingFetched(folder), []);
});
