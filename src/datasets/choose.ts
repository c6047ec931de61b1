/** Makes another generation the current one: a named one, or the previous one. */
import type { Catalogue, DatasetList } from "./catalogue.ts";
import type { Generation } from "./generation.ts";
import { DatasetFault } from "./dataset-fault.ts";
import { timeOf } from "./format.ts";
import { clearLeftovers } from "./leftovers.ts";
import { openPublished } from "./open-generation.ts";

export interface Choice {
  version: string;
  /** Publish a staged dataset even if another became current since? Its changes are then discarded. */
  discardsNewer: boolean;
  nowMilliseconds: number;
}

/**
 * Publishes a version. The caller holds the lock.
 * @throws DatasetFault if there is no such dataset, its file is not the one that was built, or it is outdated.
 */
export function publishVersion(catalogue: Catalogue, choice: Choice): Generation {
  clearLeftovers(catalogue.folder);
  return makeCurrent(catalogue, chosen(catalogue, choice), choice.nowMilliseconds);
}

/** Returns the chosen generation. @throws DatasetFault if there is none, or it is outdated. */
export function chosen(
  list: DatasetList,
  { version, discardsNewer }: Pick<Choice, "version" | "discardsNewer">,
): Generation {
  const generation = list.find(version);
  if (!discardsNewer && isStaged(generation)) refuseOutdated(list, generation);
  return generation;
}

/** Reports whether a generation was never published. */
export const isStaged = ({ published_at }: Generation) => published_at === null;

/** Reports whether a staged dataset lacks changes that were published since. */
export const isOutdated = (generation: Generation, current: string | null) =>
  isStaged(generation) && generation.built_from !== current;

function refuseOutdated(catalogue: DatasetList, generation: Generation): void {
  const current = catalogue.currentVersion();
  if (!isOutdated(generation, current)) return;
  const base = generation.built_from ?? "an empty folder";
  throw new DatasetFault(
    `${generation.version} was built from ${base}, but now ${current ?? "nothing"} is current, and its changes would be lost. Import again, or add --discard-newer.`,
  );
}

/**
 * Makes the previous generation current again. The caller holds the lock.
 * @throws DatasetFault if there is none, or its file is not the one that was built.
 */
export function rollBack(catalogue: Catalogue, nowMilliseconds: number): Generation {
  clearLeftovers(catalogue.folder);
  return makeCurrent(catalogue, chosenBefore(catalogue), nowMilliseconds);
}

/** Returns the previous generation. @throws DatasetFault if there is none. */
export function chosenBefore(list: DatasetList): Generation {
  const before = findBefore(list);
  if (before !== undefined) return before;
  throw new DatasetFault(
    "There is no dataset before the current one; 'gp-records datasets list' shows all datasets.",
  );
}

/**
 * Finds the generation that was current when the present one was published; if that is gone, the newest older one. Skips
 * staged generations.
 */
export function findBefore(catalogue: DatasetList): Generation | undefined {
  const current = catalogue.currentVersion();
  const published = readable(catalogue).filter((one) => !isStaged(one));
  const after = published.find(({ version }) => version === current)?.published_after;
  return (
    published.find(({ version }) => version === after) ??
    published.findLast(({ version }) => current !== null && version < current)
  );
}

/** Lists readable generations: an unreadable one must not prevent a rollback to another. */
const readable = (catalogue: DatasetList) =>
  catalogue.versions().flatMap((version) => catalogue.findReadable(version) ?? []);

/** Makes a generation current. Verifies its file first, so that no server loads one that was damaged since. */
function makeCurrent(catalogue: Catalogue, generation: Generation, nowMilliseconds: number) {
  const { version } = generation;
  openPublished(catalogue.pathOf(version), generation).db.close();
  return catalogue.publish(version, timeOf(nowMilliseconds));
}
