/** Deletes old generations, except any that is current, pinned, waiting to be published, or possibly being opened. */
import { existsSync } from "node:fs";
import type { Catalogue, DatasetList } from "./catalogue.ts";
import type { Generation } from "./generation.ts";
import { findBefore, isOutdated, isStaged } from "./choose.ts";
import { timeOf } from "./format.ts";
import { clearLeftovers } from "./leftovers.ts";

/** Time after which a server has opened a generation that it learned of, or given up. */
const openingMilliseconds = 600_000;

export interface PruneOrder {
  /** Number of newest published datasets to keep; 0 keeps all. */
  keep: number;
  /**
   * Does it run after an import instead of on request? Then the target of a rollback stays, too. An outdated staged dataset
   * goes only with the published ones of its time, because somebody may still want to compare it.
   */
  isAutomatic?: boolean;
  isDryRun: boolean;
  nowMilliseconds: number;
}

export interface Pruned {
  /** Generations that were removed, or would be, oldest first. */
  removed: Generation[];
  /** Generations that only a pin kept. */
  pinned: Generation[];
  /** Generations that could not be removed, with the reasons. */
  failures: { version: string; error: Error }[];
}

/**
 * Prunes the datasets of a folder. The caller holds the lock.
 * @throws DatasetFault if the pointer names no existing dataset: nobody then knows which ones are needed.
 */
export function prune(catalogue: Catalogue, order: PruneOrder): Pruned {
  const { isDryRun } = order;
  const current = catalogue.current()?.version ?? null;
  if (!isDryRun) clearLeftovers(catalogue.folder);
  const { removable, pinned } = findSpare(catalogue, order);
  if (isDryRun) return { removed: removable, pinned, failures: [] };
  const removed: Generation[] = [];
  const failures: Pruned["failures"] = [];
  for (const one of removable)
    try {
      catalogue.remove(one.version);
      removed.push(one);
    } catch (error) {
      failures.push({ version: one.version, error: error as Error });
    }
  clearFactsAlone(catalogue, current);
  return { removed, pinned, failures };
}

/**
 * Finds generations that at most a pin would keep, with a pin and without.
 * @throws DatasetFault if the pointer names no existing dataset.
 */
export function findSpare(
  catalogue: DatasetList,
  { keep, isAutomatic = false, nowMilliseconds }: Omit<PruneOrder, "isDryRun">,
): { removable: Generation[]; pinned: Generation[] } {
  const current = catalogue.current()?.version ?? null;
  const all = catalogue.list();
  const published = all.filter((one) => !isStaged(one));
  const beyond = keep === 0 ? [] : published.slice(0, -keep);
  const youngestBeyond = beyond.at(-1)?.version ?? "";
  const isGivenUp = (one: Generation) =>
    isOutdated(one, current) && (!isAutomatic || one.version < youngestBeyond);
  const kept = new Set<string | null | undefined>([current, ...lately(published, nowMilliseconds)]);
  if (isAutomatic) kept.add(findBefore(catalogue)?.version);
  const spare = all.filter(
    (one) => (beyond.includes(one) || isGivenUp(one)) && !kept.has(one.version),
  );
  return {
    removable: spare.filter(({ pinned_at }) => pinned_at === null),
    pinned: spare.filter(({ pinned_at }) => pinned_at !== null),
  };
}

/** Returns versions that were current at some time in the last ten minutes. */
function lately(published: readonly Generation[], nowMilliseconds: number): string[] {
  const since = nowMilliseconds - openingMilliseconds;
  const byTime = published.toSorted((a, b) => publishedAt(a) - publishedAt(b));
  const recent = byTime.filter((one) => publishedAt(one) >= since);
  // The one that was current when the ten minutes began. It is still current if nothing was published since.
  const before = recent.length === 0 ? undefined : byTime.findLast((one) => !recent.includes(one));
  return [...recent, ...(before === undefined ? [] : [before])].map(({ version }) => version);
}

const publishedAt = ({ published_at }: Generation) => Date.parse(published_at!);

/** Removes facts that a removal left behind when it was killed half-way. */
function clearFactsAlone(catalogue: Catalogue, current: string | null): void {
  for (const version of catalogue.versions())
    if (version !== current && !existsSync(catalogue.pathOf(version))) catalogue.remove(version);
}

/**
 * Pins a generation, so that it is not removed, or unpins it. The caller holds the lock.
 * @param nowMilliseconds null unpins; an existing pin keeps its time.
 * @throws DatasetFault if there is no such dataset.
 */
export function pinVersion(
  catalogue: Catalogue,
  version: string,
  nowMilliseconds: number | null,
): Generation {
  clearLeftovers(catalogue.folder);
  const found = catalogue.find(version);
  if ((found.pinned_at === null) === (nowMilliseconds === null)) return found;
  return catalogue.pin(version, nowMilliseconds === null ? null : timeOf(nowMilliseconds));
}
