/** The folder of generations: `<version>.sqlite`, its facts in `<version>.json`, and the pointer `current`. */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { replaceFile, syncPath, writeSynced } from "#store/whole-file.ts";
import { DatasetFault, noDataset, readIfThere } from "./dataset-fault.ts";
import {
  factsText,
  lastPublished,
  readFacts,
  versionShape,
  type Generation,
} from "./generation.ts";
import { draftFactsName, findUnconfirmed, settleDraft } from "./leftovers.ts";

export interface Catalogue {
  folder: string;
  /** Folder of the files that a server offers of whole datasets. It has a folder for each version, removed with it. */
  exportsFolder: string;
  pathOf(version: string): string;
  /** Lists all generations, oldest first. */
  list(): Generation[];
  /** Lists versions with at least one of their two files, oldest first, without one that an import has yet to publish. */
  versions(): string[];
  /** Reports whether both files of the dataset are there. Returns false while an import has yet to publish it. */
  has(version: string): boolean;
  /** Returns a version. @throws DatasetFault if there is none, or its facts cannot be read or belong to another. */
  find(version: string): Generation;
  /** Returns a version. Returns null if `find` throws. */
  findReadable(version: string): Generation | null;
  /** Returns the current version. @throws DatasetFault if the pointer names none: that is not the same as no pointer. */
  currentVersion(): string | null;
  /** Returns the current generation. @throws DatasetFault as `find` and `currentVersion`. */
  current(): Generation | null;
  /** Adds a verified draft, to be published later. After an interruption the dataset is staged or not there at all. */
  stage(draftPath: string, generation: Generation): void;
  /**
   * Adds a verified draft and makes it the current one; a server notices within a second. After an interruption the
   * dataset is the current one, or is gone once leftovers are cleared.
   */
  publishDraft(draftPath: string, generation: Generation, time: string): Generation;
  /** Makes a version the current one. After an interruption a staged dataset is the current one, or staged as before. */
  publish(version: string, time: string): Generation;
  /** Notes since when a version must not be removed; null ends that. */
  pin(version: string, time: string | null): Generation;
  /** Deletes the files of a version. Never call it for the current one. */
  remove(version: string): void;
}

/** The part of a catalogue for callers that only read. */
export type DatasetList = Pick<
  Catalogue,
  | "folder"
  | "pathOf"
  | "list"
  | "versions"
  | "has"
  | "find"
  | "findReadable"
  | "currentVersion"
  | "current"
>;

/** @param folder folder that is created if it does not exist. */
export function openCatalogue(folder: string): Catalogue {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const pathOf = (version: string) => join(folder, `${version}.sqlite`);
  const factsOf = (version: string) => join(folder, `${version}.json`);
  const pointer = join(folder, "current");
  const exportsFolder = join(folder, "exports");
  const draftFacts = join(folder, draftFactsName);
  /** Reports whether an import named this version, but has yet to publish it. */
  const isUnpublished = (version: string, unconfirmed = findUnconfirmed(folder)) =>
    unconfirmed?.version === version && unconfirmed.published_at !== null;
  const has = (version: string) =>
    versionShape.test(version) &&
    existsSync(factsOf(version)) &&
    existsSync(pathOf(version)) &&
    !isUnpublished(version);
  const find = (version: string): Generation => {
    if (!has(version)) throw noDataset(version);
    const unconfirmed = findUnconfirmed(folder);
    // Its own facts already say that it was published.
    return unconfirmed?.version === version ? unconfirmed : readFacts(factsOf(version), version);
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
    const unconfirmed = findUnconfirmed(folder);
    return [...new Set(names)]
      .filter((name) => versionShape.test(name) && !isUnpublished(name, unconfirmed))
      .toSorted();
  };
  const list = () => versions().filter(has).map(find);
  const named = () => readIfThere(pointer)?.trim() ?? null;
  const namedVersion = () => {
    const version = named();
    return version !== null && versionShape.test(version) ? version : null;
  };
  /** Renames the file. The facts of the draft already name it, and its own facts follow. */
  const nameDraft = (draftPath: string, generation: Generation) => {
    writeSynced(draftFacts, factsText(generation));
    syncPath(folder);
    renameSync(draftPath, pathOf(generation.version));
  };
  /** Makes a change. The pointer, which moves last, decides what was done; the draft's facts tell what to undo. */
  const confirmed = (change: () => void) => {
    try {
      change();
    } finally {
      settleDraft(folder);
    }
  };
  const currentVersion = () => {
    const version = named();
    if (version === null || versionShape.test(version)) return version;
    const last = lastPublished(list())?.version;
    throw new DatasetFault(
      `${pointer} does not name a dataset; 'gp-records datasets publish ${last ?? "VERSION"}' writes it again.`,
    );
  };
  return {
    folder,
    exportsFolder,
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
    stage(draftPath, generation) {
      try {
        nameDraft(draftPath, generation);
        renameSync(draftFacts, factsOf(generation.version));
      } catch (error) {
        settleDraft(folder);
        throw error;
      }
      syncPath(folder);
    },
    publishDraft(draftPath, generation, time) {
      const published = { ...generation, published_at: time, published_after: namedVersion() };
      confirmed(() => {
        nameDraft(draftPath, published);
        replaceFile(factsOf(published.version), factsText(published));
        replaceFile(pointer, `${published.version}\n`);
      });
      return published;
    },
    publish(version, time) {
      const found = find(version);
      const isFirst = found.published_at === null;
      const published_after = isFirst ? namedVersion() : found.published_after;
      const published = { ...found, published_at: time, published_after };
      confirmed(() => {
        if (isFirst) {
          writeSynced(draftFacts, factsText(found));
          syncPath(folder);
        }
        replaceFile(factsOf(version), factsText(published));
        replaceFile(pointer, `${version}\n`);
      });
      return published;
    },
    pin(version, time) {
      const pinned = { ...find(version), pinned_at: time };
      replaceFile(factsOf(version), factsText(pinned));
      return pinned;
    },
    remove(version) {
      // In this order, so that a process killed in between leaves something small that is not listed.
      rmSync(pathOf(version), { force: true });
      rmSync(factsOf(version), { force: true });
      rmSync(join(exportsFolder, version), { recursive: true, force: true });
      syncPath(folder);
    },
  };
}
