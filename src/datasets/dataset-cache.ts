/** The datasets folder as a cache of shared datasets. */
import { existsSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { isAbandoned } from "#store/lock.ts";
import { replaceFile, syncPath, writeSynced } from "#store/whole-file.ts";
import {
  type Catalogue,
  currentOrNull,
  type DatasetList,
  findBefore,
  openCatalogue,
} from "./catalogue.ts";
import { DatasetFault, readIfThere } from "./dataset-fault.ts";
import { hashFile } from "./dataset-hash.ts";
import { sizeOf } from "./disk-space.ts";
import { factsText, type Generation, isStaged } from "./generation.ts";

/** The shared datasets at one moment, listed like those of a folder. */
export interface Kept extends DatasetList {
  /** Counter that increases with each change to the datasets or publications. */
  change: number;
  /**
   * Datasets that commands are about to publish. Servers fetch their files in advance. The next holder of the lock
   * removes those that a killed command left.
   */
  added: readonly Generation[];
  /** Time when these datasets were listed, by the database's clock, in ms since 1970. */
  readAt: number;
}

export type DatasetCache = ReturnType<typeof openCache>;

/** Name of the file that marks a folder as a cache. Its datasets may be deleted, because the database has them all. */
const markName = ".cache";
const markText =
  "The datasets in this folder are copies from the database in DATABASE_URL. gp-records deletes old copies.\n";
const keptMilliseconds = 600_000;
let fetched = 0;

/**
 * Opens a cache. Creates its folder if it does not exist.
 * @throws DatasetFault if the folder has datasets that were not fetched: a cache would delete them.
 */
export function openCache(folder: string) {
  const catalogue = openCatalogue(folder);
  const fault = whyNoCache(catalogue);
  if (fault !== null) throw new DatasetFault(`${fault.found}. Nothing was changed. ${fault.mend}`);
  const mark = join(folder, markName);
  if (!existsSync(mark)) writeSynced(mark, markText);
  const { pathOf } = catalogue;
  const pointer = join(folder, "current");
  /** Reports whether the folder has a generation's file at full length. Its bytes are checked when it is loaded. */
  const has = (generation: Generation) => sizeOf(pathOf(generation.version)) === generation.bytes;
  /** Reports whether a generation's file is in the folder and every byte is as published. */
  const isWhole = (generation: Generation) =>
    has(generation) && hashFile(pathOf(generation.version)).sha256 === generation.sha256;
  /** Writes a generation's facts beside its file. Returns true if they changed. */
  const noteFacts = (generation: Generation): boolean => {
    const text = factsText(generation);
    const path = join(folder, `${generation.version}.json`);
    if (readIfThere(path) === text) return false;
    replaceFile(path, text);
    return true;
  };
  return {
    catalogue,
    has,
    isWhole,
    /** Removes the file of a version unless its size and hash match its facts. */
    removeDamaged(version: string): void {
      const known = catalogue.findReadable(version);
      if (known === null || !isWhole(known)) rmSync(pathOf(version), { force: true });
    },
    temporaryPath: () => join(folder, `.fetch.${process.pid}.${++fetched}.tmp`),
    /** Gives a complete file its final name, and writes its facts. @returns its path. */
    adopt(temporaryPath: string, generation: Generation): string {
      const path = pathOf(generation.version);
      syncPath(temporaryPath);
      renameSync(temporaryPath, path);
      noteFacts(generation);
      syncPath(folder);
      return path;
    },
    noteFacts,
    /** Points a server on this folder at a generation. Returns true if anything changed. */
    point(generation: Generation): boolean {
      const isNoted = noteFacts(generation);
      if (readIfThere(pointer)?.trim() === generation.version) return isNoted;
      replaceFile(pointer, `${generation.version}\n`);
      return true;
    },
    /** Protects a version from pruning for 10 minutes. */
    touch(version: string): void {
      const now = new Date();
      utimesSync(pathOf(version), now, now);
    },
    /** Removes the copies of datasets that the database no longer has. @param read reads the database's datasets. */
    async removeGone(read: () => Promise<Kept>): Promise<void> {
      // Listed before the database is read, so that a copy made in between is not mistaken for a removed dataset.
      const here = catalogue.versions();
      const { has: isStored, added } = await read();
      for (const version of here) {
        if (isStored(version) || added.some((one) => one.version === version)) continue;
        // A server on this folder goes on serving the dataset from memory until the next one is fetched.
        if (currentOrNull(catalogue) === version) rmSync(pointer, { force: true });
        catalogue.remove(version);
      }
    },
    /**
     * Removes versions that were neither fetched nor opened in the last 10 minutes, and leftovers of killed processes.
     * @param kept versions that stay, besides the one that the folder points at.
     */
    prune(kept: ReadonlySet<unknown>): void {
      const stays = new Set([...kept, currentOrNull(catalogue)]);
      for (const version of catalogue.versions()) {
        const changedAt = statSync(pathOf(version), { throwIfNoEntry: false })?.mtimeMs ?? 0;
        if (!stays.has(version) && Date.now() - changedAt > keptMilliseconds)
          catalogue.remove(version);
      }
      for (const name of readdirSync(folder).filter(isAbandoned))
        rmSync(join(folder, name), { force: true });
    },
  };
}

/**
 * Returns the versions that a cache always keeps: the current one, the target of a rollback, those that may come next,
 * and on request the pinned ones.
 */
export function versionsToKeep(kept: Kept, keepsPinned: boolean): Set<unknown> {
  const pinned = keepsPinned ? pinnedIn(kept) : [];
  const generations = [kept.current(), findBefore(kept), ...comingNext(kept), ...pinned];
  return new Set(generations.map((one) => one?.version));
}

export const pinnedIn = (kept: Kept): Generation[] =>
  kept.list().filter((one) => !isStaged(one) && one.pinned_at !== null);

/** Returns the newest staged datasets built on the current one, at most 2, because more would fill the folder. */
export function comingNext(kept: Kept): Generation[] {
  const current = kept.currentVersion();
  return [...kept.list(), ...kept.added]
    .filter((one) => isStaged(one) && one.built_from === current)
    .toSorted((a, b) => (a.version < b.version ? -1 : 1))
    .slice(-2);
}

/** Returns a fault if a folder has datasets that were not fetched, otherwise null. */
export function whyNoCache({ folder, versions }: Catalogue) {
  const [own] = existsSync(join(folder, markName)) ? [] : versions();
  if (own === undefined) return null;
  return {
    found: `${folder} has datasets of its own, such as ${own}. With DATABASE_URL it would become a cache of the database's datasets, and its own would be deleted`,
    mend: "Set DATA_DIR to an empty folder. To move what this folder has into an empty database, run `gp-records backup FILE` without DATABASE_URL, and then `gp-records restore FILE --to URL`.",
  };
}
