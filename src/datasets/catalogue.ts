/** The folder of generations: `<version>.sqlite`, what is known of it in `<version>.json`, and the pointer `current`. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatasetFault } from "./dataset-fault.ts";
import { factsText, lastPublished, readFacts, type Generation } from "./generation.ts";
import { draftFactsName } from "./leftovers.ts";
import { replaceFile, syncPath, writeSynced } from "./whole-file.ts";

export type { Generation } from "./generation.ts";

export const versionShape = /^\d{8}T\d{6}Z-[0-9a-f]{8}$/;

export interface Catalogue {
  folder: string;
  pathOf(version: string): string;
  /** Oldest first. */
  list(): Generation[];
  /** Versions that have at least one of their two files, oldest first. */
  versions(): string[];
  /** Whether there is such a dataset, with both its files. */
  has(version: string): boolean;
  /** @throws DatasetFault where there is no such version, or what is known of it cannot be read or is of another. */
  find(version: string): Generation;
  /** Null where `find` throws. */
  findReadable(version: string): Generation | null;
  /** @throws DatasetFault where the pointer is there and names no version: nobody may take that for an empty folder. */
  currentVersion(): string | null;
  /** @throws DatasetFault as `find` and `currentVersion` do. */
  current(): Generation | null;
  /** Takes a verified draft in; it is not current yet. */
  add(draftPath: string, generation: Generation): void;
  /** Makes a version the current one; a server notices within a second. */
  publish(version: string, time: string): Generation;
  /** Deletes the files of a version; never ask it for the current one. */
  remove(version: string): void;
}

/** @param folder made if it is not there. */
export function openCatalogue(folder: string): Catalogue {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const pathOf = (version: string) => join(folder, `${version}.sqlite`);
  const factsOf = (version: string) => join(folder, `${version}.json`);
  const pointer = join(folder, "current");
  const has = (version: string) =>
    versionShape.test(version) && existsSync(factsOf(version)) && existsSync(pathOf(version));
  const find = (version: string): Generation => {
    if (!has(version))
      throw new DatasetFault(
        `There is no dataset '${version}'; 'gp-records datasets list' shows those there are.`,
      );
    return readFacts(factsOf(version), version);
  };
  const findReadable = (version: string) => {
    try {
      return find(version);
    } catch (error) {
      if (error instanceof DatasetFault) return null;
      throw error;
    }
  };
  const versions = () => {
    const names = readdirSync(folder).map((name) => name.replace(/\.(?:sqlite|json)$/, ""));
    return [...new Set(names)].filter((name) => versionShape.test(name)).toSorted();
  };
  const list = () => versions().filter(has).map(find);
  const named = () => readIfThere(pointer)?.trim() ?? null;
  const currentVersion = () => {
    const version = named();
    if (version === null || versionShape.test(version)) return version;
    const last = lastPublished(list())?.version;
    throw new DatasetFault(
      `${pointer} does not name a dataset; 'gp-records datasets publish ${last ?? "VERSION"}' writes it anew.`,
    );
  };
  return {
    folder,
    pathOf,
    has,
    find,
    findReadable,
    currentVersion,
    list,
    versions,
    current() {
      const version = currentVersion();
      return version === null ? null : find(version);
    },
    add(draftPath, generation) {
      const draftFacts = join(folder, draftFactsName);
      try {
        writeSynced(draftFacts, factsText(generation));
        syncPath(folder);
        renameSync(draftPath, pathOf(generation.version));
        renameSync(draftFacts, factsOf(generation.version));
      } catch (error) {
        rmSync(draftFacts, { force: true });
        if (!has(generation.version)) rmSync(pathOf(generation.version), { force: true });
        throw error;
      }
      syncPath(folder);
    },
    publish(version, time) {
      const found = find(version);
      const before = found.published_at === null ? named() : found.published_after;
      const published_after = before !== null && versionShape.test(before) ? before : null;
      const published = { ...found, published_at: time, published_after };
      replaceFile(factsOf(version), factsText(published));
      replaceFile(pointer, `${version}\n`);
      return published;
    },
    remove(version) {
      // In this order: what is left by a process that is killed here is small and not listed.
      rmSync(pathOf(version), { force: true });
      rmSync(factsOf(version), { force: true });
      syncPath(folder);
    },
  };
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
