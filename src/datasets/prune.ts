/** Deletes old and outdated generations, except those that are current or pinned. */
import { existsSync } from "node:fs";
import { type DatasetList, findBefore } from "./catalogue.ts";
import { type Generation, isOutdated, isStaged } from "./generation.ts";
import type { DatasetStore } from "./store.ts";

export interface PruneOrder {
  /** Number of newest published datasets to keep; 0 keeps all. */
  keep: number;
  /**
   * True if a publication causes the pruning, false if somebody asked for it. Automatic pruning also keeps the target
   * of a rollback. It keeps an outdated dataset for comparison, unless a published one beyond `keep` is newer.
   */
  isAutomatic?: boolean;
  isDryRun: boolean;
}

export interface Pruned {
  /** Generations that were removed, oldest first; in a dry run, those that would be. */
  removed: Generation[];
  /** Generations that only a pin kept. */
  pinned: Generation[];
  /** Generations that could not be removed, with the reasons. */
  failures: { version: string; error: Error }[];
}

/**
 * Prunes datasets. Keeps those with unreadable facts. The caller holds the import lock.
 * @throws DatasetFault if the pointer names no dataset, or one with unreadable facts: it is then unknown which datasets
 *   are needed.
 */
export async function prune(store: DatasetStore, order: PruneOrder): Promise<Pruned> {
  const kept = await store.read();
  const { removable, pinned } = findSpare(kept, order);
  if (order.isDryRun) return { removed: removable, pinned, failures: [] };
  const pruned: Pruned = { removed: [], pinned, failures: [] };
  for (const one of removable)
    try {
      await store.remove(one.version);
      pruned.removed.push(one);
    } catch (error) {
      pruned.failures.push({ version: one.version, error: error as Error });
    }
  // A removal that was killed halfway leaves facts behind.
  for (const version of kept.versions())
    if (!kept.has(version) && !existsSync(kept.pathOf(version))) await store.remove(version);
  return pruned;
}

function findSpare(
  list: DatasetList,
  { keep, isAutomatic = false }: PruneOrder,
): { removable: Generation[]; pinned: Generation[] } {
  const current = list.current()?.version ?? null;
  const all = list.list();
  const published = all.filter((one) => !isStaged(one));
  const beyond = keep === 0 ? [] : published.slice(0, -keep);
  const youngestBeyond = beyond.at(-1)?.version ?? "";
  const isGivenUp = (one: Generation) =>
    isOutdated(one, current) && (!isAutomatic || one.version < youngestBeyond);
  const kept = [current, isAutomatic ? findBefore(list)?.version : null];
  const spare = all.filter(
    (one) => (beyond.includes(one) || isGivenUp(one)) && !kept.includes(one.version),
  );
  return {
    removable: spare.filter(({ pinned_at }) => pinned_at === null),
    pinned: spare.filter(({ pinned_at }) => pinned_at !== null),
  };
}
