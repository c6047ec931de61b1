/** Machines that share datasets in a database, and datasets to share. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { Catalogue } from "#datasets/catalogue.ts";
import { openCache } from "#datasets/dataset-cache.ts";
import { followShared } from "#datasets/follow-shared.ts";
import type { Generation } from "#datasets/generation.ts";
import { openSharedStore } from "#datasets/postgres.ts";
import type { DatasetStore } from "#datasets/store.ts";
import { gp } from "../datasets/published.ts";
import { importRecords, temporaryCatalogue } from "./dataset.ts";
import { eventually } from "./eventually.ts";
import { freshDatabase } from "./postgres.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** A machine with an empty cache. @param url of the database. */
export function machine(t: TestContext, url: string) {
  const dataDir = temporaryFolder(t);
  const cache = openCache(join(dataDir, "datasets"));
  const keeping = { changesDays: 0, warn: (sentence: string) => assert.fail(sentence) };
  const store = openSharedStore(url, cache, keeping);
  t.after(() => store.close());
  return { dataDir, cache, store };
}

let drafts = 0;

/** Adds a dataset, to be published at once unless it waits staged. @returns its version. */
export async function add(
  store: DatasetStore,
  { path: file, generation }: Built,
  isStaged = false,
): Promise<string> {
  // A store takes the file away.
  const path = `${file}.${++drafts}.tmp`;
  copyFileSync(file, path);
  await store.add({ path, generation, isStaged });
  return generation.version;
}

/** Adds a dataset and makes it the current one. @returns its version. */
export async function publishBuilt(store: DatasetStore, built: Built): Promise<string> {
  const version = await add(store, built);
  await store.publish(version, (await store.read()).currentVersion(), null);
  return version;
}

/** Publishes records in the database. */
export async function importShared(
  t: TestContext,
  url: string,
  records: readonly unknown[],
): Promise<void> {
  const [built] = (await buildDatasets(t, records)) as [Built];
  await publishBuilt(machine(t, url).store, built);
}

export interface Built {
  path: string;
  generation: Generation;
}

/** Datasets that nobody shares yet, one for each list of records, in files of their own. */
export async function buildDatasets(
  t: TestContext,
  ...deliveries: (readonly unknown[])[]
): Promise<Built[]> {
  const catalogue: Catalogue = temporaryCatalogue(t);
  const built: Built[] = [];
  for (const [i, records] of deliveries.entries()) {
    const nowMilliseconds = Date.UTC(2026, 10, i + 1, 3);
    const { published } = await importRecords(catalogue, records, { nowMilliseconds });
    const generation = { ...published!, published_at: null, published_after: null };
    built.push({ path: catalogue.pathOf(generation.version), generation });
  }
  return built;
}

/**
 * A new database, two machines on it, and datasets that nobody shares yet.
 * @param deliveries records of a dataset, or the id and name of its only GP.
 */
export async function twoMachines<Deliveries extends (string | readonly unknown[])[]>(
  t: TestContext,
  ...deliveries: Deliveries
) {
  const database = await freshDatabase(t);
  const records = deliveries.map((one) => (typeof one === "string" ? [gp(one)] : one));
  const built = (await buildDatasets(t, ...records)) as { [K in keyof Deliveries]: Built };
  return [database, machine(t, database), machine(t, database), ...built] as const;
}

/** A server's folder that follows the shared datasets, and what it has told so far. */
export function follow(
  t: TestContext,
  { store, cache }: Pick<ReturnType<typeof machine>, "store" | "cache">,
  fetchesPinned = false,
) {
  const told: string[] = [];
  const tell = (what: string) => void told.push(what);
  const follower = followShared({
    store,
    cache,
    fetchesPinned,
    onSeen: (wanted) => tell(`wanted ${wanted}`),
    onPointed: () => tell(`pointed ${cache.catalogue.currentVersion()}`),
    onFault: (fault) => tell(fault === null ? "works again" : fault.message),
    now: () => performance.now(),
  });
  t.after(() => follower.close());
  /** Resolves once it is told something that has this text, from a moment on. */
  const until = (text: string, from = 0) =>
    eventually(() => assert.ok(told.slice(from).some((one) => one.includes(text))));
  /** Resolves once everything is fetched that is there to be fetched: after a whole round of the follower. */
  const settled = async () => {
    const from = told.length;
    const rounds = () => told.slice(from).filter((one) => one.startsWith("wanted")).length;
    await eventually(() => assert.ok(rounds() > 1));
  };
  return { follower, told, until, settled };
}

/** GPs whose descriptions hardly shrink when compressed: some 1.3 KB each, so that a thousand take more than a part. */
export const bulkyGps = (count: number): object[] =>
  Array.from({ length: count }, (_, i) => ({
    record: "gp",
    id: `gp${i}`,
    name: `Bulky ${i}`,
    description: Array.from({ length: 20 }, (__, j) =>
      createHash("sha256").update(`${i} ${j}`).digest("hex"),
    ).join(" "),
  }));
