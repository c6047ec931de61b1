/** The folder of datasets as a cache in front of those that several machines share. */
import { existsSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { isRunning } from "#store/lock.ts";
import { replaceFile, syncPath, writeSynced } from "#store/whole-file.ts";
import { type Catalogue, openCatalogue } from "./catalogue.ts";
import { DatasetFault, readIfThere } from "./dataset-fault.ts";
import { sizeOf } from "./disk-space.ts";
import { hashFile } from "./file-hash.ts";
import { factsText, type Generation } from "./generation.ts";

export interface DatasetCache {
  catalogue: Catalogue;
  /** Whether its file is here, as long as it should be; what is served of it is checked when it is loaded. */
  has(generation: Generation): boolean;
  /** The same, and every byte is what was published. */
  isWhole(generation: Generation): boolean;
  /** For a file that is being fetched. */
  temporaryPath(): string;
  /** Takes over a file that is whole. @returns its path. */
  adopt(temporaryPath: string, generation: Generation): string;
  /** Writes what is known of it beside its file. @returns whether it was known otherwise. */
  noteFacts(generation: Generation): boolean;
  /** Makes it the one that a server on this folder serves. @returns whether anything changed. */
  point(generation: Generation): boolean;
  /** Keeps it from being pruned for ten minutes. */
  touch(version: string): void;
  drop(version: string): void;
  /**
   * Removes files that nobody asked for within ten minutes, and what killed processes left.
   * @param kept versions that stay.
   */
  prune(kept: ReadonlySet<string>, nowMilliseconds: number): void;
}

/** Marks a folder whose datasets are all elsewhere too, so that they may be deleted. */
const markName = ".cache";
const fetchedShape = /^\.fetch\.(\d+)\.\d+\.tmp$/;
const keptMilliseconds = 600_000;
let fetched = 0;

/**
 * @param folder created where it does not exist.
 * @throws DatasetFault for a folder with datasets that were not fetched, which would be lost in a cache.
 */
export function openCache(folder: string): DatasetCache {
  const catalogue = openCatalogue(folder);
  markAsCache(catalogue);
  const { pathOf } = catalogue;
  const factsOf = (version: string) => join(folder, `${version}.json`);
  const pointer = join(folder, "current");
  const has = (generation: Generation) => sizeOf(pathOf(generation.version)) === generation.bytes;
  const noteFacts = (generation: Generation) => {
    const text = factsText(plain(generation));
    const path = factsOf(generation.version);
    if (readIfThere(path) === text) return false;
    replaceFile(path, text);
    return true;
  };
  return {
    catalogue,
    has,
    isWhole: (generation) =>
      has(generation) && hashFile(pathOf(generation.version)).sha256 === generation.sha256,
    temporaryPath: () => join(folder, `.fetch.${process.pid}.${++fetched}.tmp`),
    adopt(temporaryPath, generation) {
      const path = pathOf(generation.version);
      syncPath(temporaryPath);
      renameSync(temporaryPath, path);
      noteFacts(generation);
      syncPath(folder);
      return path;
    },
    noteFacts,
    point(generation) {
      const isNoted = noteFacts(generation);
      if (readIfThere(pointer)?.trim() === generation.version) return isNoted;
      replaceFile(pointer, `${generation.version}\n`);
      return true;
    },
    touch(version) {
      const now = new Date();
      utimesSync(pathOf(version), now, now);
    },
    drop: (version) => catalogue.remove(version),
    prune(kept, nowMilliseconds) {
      for (const version of catalogue.versions()) {
        const changedAt = statSync(pathOf(version), { throwIfNoEntry: false })?.mtimeMs ?? 0;
        if (!kept.has(version) && nowMilliseconds - changedAt > keptMilliseconds)
          catalogue.remove(version);
      }
      for (const name of readdirSync(folder)) {
        const [, pid] = fetchedShape.exec(name) ?? [];
        if (pid !== undefined && !isRunning(Number(pid)))
          rmSync(join(folder, name), { force: true });
      }
    },
  };
}

/** Without what only the database says of it. */
function plain(generation: Generation): Generation {
  const { version, hash, sha256, bytes, records, built_at, built_from } = generation;
  const { published_at, published_after, pinned_at } = generation;
  const facts = { version, hash, sha256, bytes, records, built_at, built_from };
  return { ...facts, published_at, published_after, pinned_at };
}

function markAsCache({ folder, versions }: Catalogue): void {
  const mark = join(folder, markName);
  if (existsSync(mark)) return;
  const [own] = versions();
  if (own !== undefined)
    throw new DatasetFault(
      `${folder} has datasets of its own, such as ${own}, and with DATABASE_URL it would be a cache of those in the database, whose files come and go. Name an empty folder with DATA_DIR; \`gp-records backup\` and \`restore --to\` move what is in this one into an empty database.`,
    );
  writeSynced(
    mark,
    "Files here are fetched from the database that DATABASE_URL names, and deleted again.\n",
  );
}

/** Makes a cache that has all datasets a folder of its own, whose files nobody deletes. */
export function endCache(folder: string): void {
  rmSync(join(folder, markName), { force: true });
  syncPath(folder);
}
