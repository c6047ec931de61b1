/** Deletes old and outdated generations, except those that are current, pinned, or perhaps being opened. */
import { existsSync } from "node:fs";
import { findBefore } from "./catalogue.ts";
import { type Generation, isOutdated, isStaged } from "./generation.ts";
import type { DatasetStore, Kept } from "./store.ts";

/** Maximum time that a server takes to open a generation or give up, in ms. */
const openingMilliseconds = 600_000;

export interface PruneOrder {
  /** Number of newest published datasets to keep; 0 keeps all. */
  keep: number;
  /**
   * True after an import, false on request. After an import, the target of a rollback stays too. An outdated staged
   * dataset stays unless it is older than a published one beyond `keep`, because somebody may still want to compare it.
   */
  isAutomatic?: boolean;
  isDryRun: boolean;
}

export interface Pruned {
  /** Generations that were removed, or would be without a dry run, oldest first. */
  removed: Generation[];
  /** Generations that only a pin kept. */
  pinned: Generation[];
  /** Generations that could not be removed, with the reasons. */
  failures: { version: string; error: Error }[];
}

/**
 * Prunes datasets. The caller holds the import lock.
 * @throws DatasetFault if the pointer names no existing dataset, or facts cannot be read: it is then unknown which
 *   datasets are needed.
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

/** Finds generations that can be removed, and those that only a pin keeps. */
function findSpare(
  list: Kept,
  { keep, isAutomatic = false }: PruneOrder,
): { removable: Generation[]; pinned: Generation[] } {
  const current = list.current()?.version ?? null;
  const all = list.list();
  const published = all.filter((one) => !isStaged(one));
  const beyond = keep === 0 ? [] : published.slice(0, -keep);
  const youngestBeyond = beyond.at(-1)?.version ?? "";
  const isGivenUp = (one: Generation) =>
    isOutdated(one, current) && (!isAutomatic || one.version < youngestBeyond);
  const kept = new Set<string | null | undefined>([current, ...lately(published, list.readAt)]);
  if (isAutomatic) kept.add(findBefore(list)?.version);
  const spare = all.filter(
    (one) => (beyond.includes(one) || isGivenUp(one)) && !kept.has(one.version),
  );
  return {
    removable: spare.filter(({ pinned_at }) => pinned_at === null),
    pinned: spare.filter(({ pinned_at }) => pinned_at !== null),
  };
}

/** Returns versions that were current at some time in the last 10 minutes. May omit the one that is current now. */
function lately(published: readonly Generation[], nowMilliseconds: number): string[] {
  const since = nowMilliseconds - openingMilliseconds;
  const byTime = published.toSorted((a, b) => publishedAt(a) - publishedAt(b));
  const recent = byTime.filter((one) => publishedAt(one) >= since);
  // The generation that was current when the 10 minutes began. If nothing was published since, it is the current one,
  // which is kept anyway.
  const before = recent.length === 0 ? undefined : byTime.findLast((one) => !recent.includes(one));
  return [...recent, ...(before === undefined ? [] : [before])].map(({ version }) => version);
}

const publishedAt = ({ published_at }: Generation) => Date.parse(published_at!);
