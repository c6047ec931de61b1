/** Deletes old generations, but none that is needed, waits to be published, or may be being opened right now. */
import { existsSync } from "node:fs";
import type { Catalogue, Generation } from "./catalogue.ts";
import { isOutdated, isStaged } from "./choose.ts";
import { clearLeftovers } from "./leftovers.ts";

/** Generations that are kept if nobody says how many. */
export const keptByDefault = 5;

/** A server that was told of a generation this long ago has opened it, or given up. */
const openingMilliseconds = 600_000;

export interface PruneOrder {
  /** How many of those that were published are kept, the newest. */
  keep: number;
  isDryRun: boolean;
  nowMilliseconds: number;
}

/**
 * The caller holds the lock.
 * @returns what was removed, or would be; oldest first.
 * @throws DatasetFault where the pointer names nothing that is there: then nobody knows what is needed.
 */
export function prune(catalogue: Catalogue, order: PruneOrder): Generation[] {
  const current = catalogue.current()?.version ?? null;
  if (!order.isDryRun) clearLeftovers(catalogue.folder);
  const all = catalogue.list();
  const published = all.filter((one) => !isStaged(one));
  const kept = new Set<string | null>([current]);
  for (const { version } of published.slice(Math.max(0, published.length - order.keep)))
    kept.add(version);
  for (const one of all) if (isStaged(one) && !isOutdated(one, current)) kept.add(one.version);
  for (const version of lately(published, order.nowMilliseconds)) kept.add(version);
  const removed = all.filter(({ version }) => !kept.has(version));
  if (order.isDryRun) return removed;
  for (const { version } of removed) catalogue.remove(version);
  clearFactsAlone(catalogue, current);
  return removed;
}

/** Versions that were the current one at some time of the last ten minutes. */
function lately(published: readonly Generation[], nowMilliseconds: number): string[] {
  const since = nowMilliseconds - openingMilliseconds;
  const byTime = published.toSorted((a, b) => publishedAt(a) - publishedAt(b));
  const recent = byTime.filter((one) => publishedAt(one) >= since);
  // What was current when they began; where nothing was published since, that is the current one.
  const before = recent.length === 0 ? undefined : byTime.findLast((one) => !recent.includes(one));
  return [...recent, ...(before === undefined ? [] : [before])].map(({ version }) => version);
}

const publishedAt = ({ published_at }: Generation) => Date.parse(published_at!);

/** What is left of a removal that was killed half-way. */
function clearFactsAlone(catalogue: Catalogue, current: string | null): void {
  for (const version of catalogue.versions())
    if (version !== current && !existsSync(catalogue.pathOf(version))) catalogue.remove(version);
}
