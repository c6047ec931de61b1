/** Commands on the datasets of a world, each on a day of November 2026. */
import { publishVersion, rollBack } from "#datasets/choose.ts";
import { prune, type PruneOrder } from "#datasets/prune.ts";
import { type OpenStore, underLock } from "#datasets/store.ts";
import { entriesOf, importInto, type ImportOptions } from "../support/dataset.ts";
import type { DatasetWorld } from "../support/dataset-worlds.ts";
import { day, gp } from "./published.ts";

/** Runs a command: under the lock, at three in the morning of a day. */
async function on<R>(
  { store, setTime }: DatasetWorld,
  time: number,
  command: (store: OpenStore) => Promise<R>,
): Promise<R> {
  await setTime(time < 100 ? day(time) : time);
  return underLock(store, () => command(store));
}

export async function importOn(
  world: DatasetWorld,
  number: number,
  ids: readonly string[],
  options: ImportOptions = {},
) {
  const entries = entriesOf(ids.map((id) => gp(id)));
  const result = await on(world, number, (store) =>
    importInto(store, { entries, nowMilliseconds: day(number), ...options }),
  );
  return (result.staged ?? result.published)!;
}
export const stageOn = (world: DatasetWorld, number: number, ids: readonly string[]) =>
  importOn(world, number, ids, { isStaged: true });
export const publishOn = (
  world: DatasetWorld,
  number: number,
  version: string,
  discardsNewer = false,
) =>
  on(world, number, (store) => publishVersion(store, { version, discardsNewer, isForced: false }));
export const backOn = async (world: DatasetWorld, number: number) =>
  (await on(world, number, rollBack)).version;
export const pinOn = (world: DatasetWorld, number: number, version: string, isPinned = true) =>
  on(world, number, (store) => store.pin(version, isPinned));

/** Publishes datasets day by day. @returns their versions. */
export async function published(world: DatasetWorld, count: number): Promise<string[]> {
  const made: string[] = [];
  for (let i = 1; i <= count; i++) made.push((await importOn(world, i, [`g${i}`])).version);
  return made;
}

export const pruneOn = (world: DatasetWorld, time: number, order: Partial<PruneOrder> = {}) =>
  on(world, time, (store) => prune(store, { keep: 1, isDryRun: false, ...order }));

export const prunedOf = async (world: DatasetWorld, order: Partial<PruneOrder>) =>
  (await pruneOn(world, 30, order)).removed.map(({ version }) => version);

export const versionsOf = async ({ store }: DatasetWorld) => (await store.read()).versions();
export const currentOf = async ({ store }: DatasetWorld) => (await store.read()).currentVersion();
