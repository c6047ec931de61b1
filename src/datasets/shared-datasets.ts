/** The shared datasets for commands: a list of one moment, and files that are fetched when needed. */
import type { Catalogue, DatasetList } from "./catalogue.ts";
import { DatasetFault, noDataset } from "./dataset-fault.ts";
import { checkGenerations, type GenerationCheck } from "./check-generations.ts";
import { chosen, chosenBefore, findBefore } from "./choose.ts";
import { type DatasetCache, openCache } from "./dataset-cache.ts";
import type { Datasets } from "./datasets.ts";
import type { Generation } from "./generation.ts";
import type { SeenInstance } from "./instances.ts";
import { openPublished } from "./open-generation.ts";
import { makeStep, type MadeStep, noStep, type Warn } from "./keep-steps.ts";
import { openPostgresRemote } from "./postgres-remote.ts";
import { findSpare, type Pruned } from "./prune.ts";
import { openPublications } from "./publications.ts";
import { importSource, type ImportTarget } from "./publish.ts";
import {
  type DatasetRemote,
  ownFormat,
  type RemoteLock,
  type SharedGeneration,
  type SharedState,
} from "./remote.ts";

interface SharedRequest {
  /** `DATABASE_URL`. */
  url: string;
  /** Folder of the cache. */
  folder: string;
  /** Does the command change anything? Then it must be the only one. */
  isChange: boolean;
  /** CHANGES_DAYS, as in `StepKeeping`. */
  changesDays: number;
  warn: Warn;
}

/**
 * Does work on the shared datasets.
 * @throws StoreFault `busy` if another command changes datasets, `unusable` if the database is away or the role may not
 *   change them; DatasetFault if the folder is no cache.
 */
export async function withSharedDatasets<R>(
  { url, folder, isChange, changesDays, warn }: SharedRequest,
  work: (datasets: Datasets) => R | Promise<R>,
): Promise<R> {
  const cache = openCache(folder);
  const remote = openPostgresRemote(url, cache);
  let lock: RemoteLock | null = null;
  try {
    lock = isChange ? await remote.lock() : null;
    if (isChange) await remote.removeAdded();
    const state = await remote.read();
    const datasets = sharedDatasets({ remote, cache, lock, state, changesDays, warn });
    const result = await work(datasets);
    cache.prune(versionsToKeep(cache.catalogue, state), Date.now());
    return result;
  } finally {
    await lock?.release();
    remote.close();
  }
}

/** Lists the servers on the shared datasets, with those that ended lately. */
export async function listInstances(url: string, folder: string): Promise<SeenInstance[]> {
  const remote = openPostgresRemote(url, openCache(folder));
  try {
    return await remote.instances.list();
  } finally {
    remote.close();
  }
}

interface Shared {
  remote: DatasetRemote;
  cache: DatasetCache;
  lock: RemoteLock | null;
  state: SharedState;
  changesDays: number;
  warn: Warn;
}

function sharedDatasets(shared: Shared): Datasets {
  const { remote, cache, lock, changesDays, warn } = shared;
  const { catalogue } = cache;
  let { state } = shared;
  const refresh = async () => void (state = await remote.read());
  const list = sharedList(catalogue, () => state);
  const { find, currentVersion } = list;
  const fetch = async (version: string) => {
    const generation = find(version);
    if (!cache.isWhole(generation)) await remote.pull(generation);
    cache.touch(version);
  };

  /** Points the folder at the current dataset. A server on this folder does so, too; the second one finds it done. */
  async function pointAtCurrent(): Promise<void> {
    await refresh();
    if (state.current !== null && cache.has(state.current)) cache.point(state.current);
  }

  /** Publishes a dataset. @param path path of its file. */
  async function publish(generation: Generation, path: string): Promise<Generation> {
    lock?.check();
    const step = changesDays === 0 ? null : await storeStep(generation, path);
    lock?.check();
    const published = await remote.publish(generation.version, currentVersion(), step);
    await pointAtCurrent();
    return published;
  }

  /** Stores the step to a dataset. Returns null if there is none or it cannot be stored, which fails no publication. */
  async function storeStep(to: Generation, path: string): Promise<MadeStep | null> {
    const from = state.current;
    if (from === null || from.version === to.version) return null;
    const publications = openPublications(catalogue.folder);
    try {
      await fetch(from.version);
      const noted = await remote.publications.list();
      const sides = {
        from: { generation: from, path: catalogue.pathOf(from.version) },
        to: { generation: to, path },
      };
      const made = makeStep({ publications, noted, ...sides, warn });
      if (made !== null) {
        const stepPath = publications.stepPath(from.version, to.version);
        await remote.publications.pushStep(stepPath, from.version, to.version);
      }
      return made;
    } catch (error) {
      warn(noStep(from.version, to.version, error as Error));
      return null;
    }
  }

  /** Makes a version current. Reads it first, so that no server loads one that was damaged since. */
  async function makeCurrent(version: string): Promise<Generation> {
    await fetch(version);
    const path = catalogue.pathOf(version);
    openPublished(path, find(version)).db.close();
    return publish(find(version), path);
  }

  const target: ImportTarget = {
    ...list,
    async stage(draftPath, generation) {
      lock?.check();
      await remote.push(draftPath, generation, "staged");
      cache.adopt(draftPath, generation);
      await refresh();
    },
    async publishDraft(draftPath, generation) {
      lock?.check();
      await remote.push(draftPath, generation, "added");
      const published = await publish(generation, draftPath).catch(async (error: unknown) => {
        // The next import removes it if this fails, too. Nothing removes it if it became current after all.
        await remote.remove(generation.version).catch(() => {});
        throw error;
      });
      try {
        cache.adopt(draftPath, published);
        await pointAtCurrent();
      } catch (error) {
        warn(`the published dataset is not in ${catalogue.folder}: ${(error as Error).message}`);
      }
      return published;
    },
  };

  return {
    ...target,
    fetch,
    async importSource(request) {
      if (!request.isDryRun && request.isStaged !== true)
        refuseUnreadable(await remote.instances.list(), ownFormat, stageInstead);
      if (state.current !== null) await fetch(state.current.version);
      return importSource(target, request);
    },
    async publishVersion(choice) {
      const { version } = chosen(target, choice);
      if (!choice.isForced)
        refuseUnreadable(await remote.instances.list(), find(version).format, forceInstead);
      return makeCurrent(version);
    },
    async rollBack() {
      const { version } = chosenBefore(target);
      const advice = `Update that server first, or run 'gp-records datasets publish ${version} --force'.`;
      refuseUnreadable(await remote.instances.list(), find(version).format, advice);
      return makeCurrent(version);
    },
    async pinVersion(version, nowMilliseconds) {
      const pinned = await remote.pin(version, nowMilliseconds !== null);
      await refresh();
      return pinned;
    },
    async prune(order) {
      // Times in the list are by the clock of the database.
      const spare = findSpare(target, { ...order, nowMilliseconds: state.readAt });
      if (order.isDryRun) return { removed: spare.removable, pinned: spare.pinned, failures: [] };
      const pruned: Pruned = { removed: [], pinned: spare.pinned, failures: [] };
      for (const one of spare.removable)
        try {
          await remote.remove(one.version);
          pruned.removed.push(one);
        } catch (error) {
          pruned.failures.push({ version: one.version, error: error as Error });
        }
      await refresh();
      return pruned;
    },
    async forgetSteps() {
      await remote.publications.forget(changesDays);
      openPublications(catalogue.folder).clear(await remote.publications.list());
    },
    async *check(versions) {
      for (const version of versions)
        yield await checkStored({ remote, cache, list, warn }, version);
    },
  };
}

interface SharedList extends DatasetList {
  find(version: string): SharedGeneration;
}

/** Returns a list of the shared datasets in place of the folder's. A dataset that is only added does not count yet. */
function sharedList({ folder, pathOf }: Catalogue, state: () => SharedState): SharedList {
  const list = () => state().generations.filter(({ status }) => status !== "added");
  const findReadable = (version: string) => list().find((one) => one.version === version) ?? null;
  return {
    folder,
    pathOf,
    list,
    versions: () => list().map(({ version }) => version),
    has: (version) => findReadable(version) !== null,
    find(version) {
      const found = findReadable(version);
      if (found === null) throw noDataset(version);
      return found;
    },
    findReadable,
    currentVersion: () => state().current?.version ?? null,
    current: () => state().current,
  };
}

/** Returns the versions that a folder keeps without being asked: the served one, the target of a rollback, and the next. */
export function versionsToKeep(catalogue: Catalogue, state: SharedState): Set<string> {
  const { current, generations } = state;
  const before = findBefore(sharedList(catalogue, () => state));
  const kept = [current, before, ...comingNext(current, generations)];
  return new Set(kept.flatMap((one) => (one === null || one === undefined ? [] : [one.version])));
}

/** Returns datasets built on the current one and not published yet: the newest two, so that a folder does not fill up. */
export const comingNext = (
  current: SharedGeneration | null,
  generations: readonly SharedGeneration[],
): SharedGeneration[] =>
  generations
    .filter(
      ({ status, built_from }) =>
        status !== "published" && built_from === (current?.version ?? null),
    )
    .slice(-2);

const stageInstead =
  "Update that server first; or import with --stage, and publish the dataset once it is updated.";
const forceInstead =
  "Update that server first, or add --force; it then keeps the dataset that it serves.";

function refuseUnreadable(
  instances: readonly SeenInstance[],
  format: string,
  advice: string,
): void {
  const unable = instances.find(({ isLive, formats }) => isLive && !formats.includes(format));
  if (unable === undefined) return;
  const { host, pid, program, formats } = unable;
  throw new DatasetFault(
    `The server on ${host}, process ${pid}, runs gp-records ${program}, which reads datasets of format ${formats.join(", ")} and not ${format}. ${advice}`,
  );
}

/** Checks a stored dataset. Fetches it again, so that the stored file is checked and not this machine's copy. */
async function checkStored(
  {
    remote,
    cache,
    list,
    warn,
  }: Pick<Shared, "remote" | "cache" | "warn"> & {
    list: SharedList;
  },
  version: string,
): Promise<GenerationCheck> {
  const generation = list.find(version);
  const path = list.pathOf(version);
  const wasHere = cache.has(generation);
  const wasWhole = cache.isWhole(generation);
  try {
    await remote.pull(generation);
  } catch (error) {
    if (!(error instanceof DatasetFault)) throw error;
    const isCurrent = version === list.currentVersion();
    const copy = wasWhole ? ` ${path} is a whole copy of it: keep it.` : "";
    const mend = `Restore the database from its backup${isCurrent ? "; until then 'gp-records datasets rollback' serves the dataset before it" : ""}.${copy}`;
    const fault = error.message.replace(/(?<=\.) .*$/, "");
    return { version, file: path, isCurrent, wrong: "file", fault, mend };
  }
  if (wasHere && !wasWhole) warn(`${path} was damaged on this machine, and was fetched again`);
  const [check] = [...checkGenerations(list, true, [version])];
  if (!wasHere) cache.drop(version);
  return check!;
}
