/** Deletes old generations, but none that is current, pinned, waiting to be published, or possibly being opened. */
import { existsSync } from "node:fs";
import type { Catalogue, DatasetList } from "./catalogue.ts";
import type { Generation } from "./generation.ts";
import { findBefore, isOutdated, isStaged } from "./choose.ts";
import { timeOf } from "./format.ts";
import { clearLeftovers } from "./leftovers.ts";

/** A server that learned of a generation this long ago has opened it or given up. */
const openingMilliseconds = 600_000;

export interface PruneOrder {
  /** How many of the newest published ones are kept; 0 keeps all. */
  keep: number;
  /**
   * Whether it runs after an import and not on request. Then the target of a rollback stays too, and an outdated staged
   * dataset goes only together with the published ones of its time: somebody may still want to compare it.
   */
  isAutomatic?: boolean;
  isDryRun: boolean;
  nowMilliseconds: number;
}

export interface Pruned {
  /** What was removed, or would be; oldest first. */
  removed: Generation[];
  /** What would have been removed, were it not pinned. */
  pinned: Generation[];
  /** What could not be removed, and why. */
  failures: { version: string; error: Error }[];
}

/**
 * The caller holds the lock.
 * @throws DatasetFault where the pointer names no existing dataset, so that nobody knows what is needed.
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
 * Generations that nothing but a pin would keep, with a pin and without.
 * @throws DatasetFault where the pointer names no existing dataset.
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

/** Versions that were current at some time in the last ten minutes. */
function lately(published: readonly Generation[], nowMilliseconds: number): string[] {
  const since = nowMilliseconds - openingMilliseconds;
  const byTime = published.toSorted((a, b) => publishedAt(a) - publishedAt(b));
  const recent = byTime.filter((one) => publishedAt(one) >= since);
  // The one that was current when the ten minutes began; if nothing was published since, it is still the current one.
  const before = recent.length === 0 ? undefined : byTime.findLast((one) => !recent.includes(one));
  return [...recent, ...(before === undefined ? [] : [before])].map(({ version }) => version);
}

const publishedAt = ({ published_at }: Generation) => Date.parse(published_at!);

/** Removes what a removal killed half-way left behind. */
function clearFactsAlone(catalogue: Catalogue, current: string | null): void {
  for (const version of catalogue.versions())
    if (version !== current && !existsSync(catalogue.pathOf(version))) catalogue.remove(version);
}

/**
 * Pins a generation, so that it is not removed, or unpins it. The caller holds the lock.
 * @param nowMilliseconds null unpins; an existing pin keeps its time.
 * @throws DatasetFault where there is no such dataset.
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
