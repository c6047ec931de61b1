/** The folder of generations: `<version>.sqlite`, its facts in `<version>.json`, and the pointer `current`. */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { asideShape, replaceFile, syncPath, writeSynced } from "#store/whole-file.ts";
import { DatasetFault, noDataset, readIfThere } from "./dataset-fault.ts";
import {
  asPublished,
  factsText,
  type Generation,
  isStaged,
  lastPublished,
  readFacts,
  versionShape,
  withAllCounts,
} from "./generation.ts";

/** The part of a catalogue for callers that only read. */
export interface DatasetList {
  folder: string;
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
}

export interface Catalogue extends DatasetList {
  /** Folder of the files that a server offers of whole datasets. It has a folder for each version, removed with it. */
  exportsFolder: string;
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
    isVersion(version) &&
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
      .filter((name) => isVersion(name) && !isUnpublished(name, unconfirmed))
      .toSorted();
  };
  const list = () => versions().filter(has).map(find);
  const namedVersion = () => {
    const version = readPointer(folder);
    return version !== null && isVersion(version) ? version : null;
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
    const version = readPointer(folder);
    if (version === null || isVersion(version)) return version;
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
      const published = asPublished(generation, time, namedVersion());
      confirmed(() => {
        nameDraft(draftPath, published);
        replaceFile(factsOf(published.version), factsText(published));
        replaceFile(pointer, `${published.version}\n`);
      });
      return published;
    },
    publish(version, time) {
      const found = find(version);
      const published = asPublished(found, time, namedVersion());
      confirmed(() => {
        if (isStaged(found)) {
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

/** Returns the current version. Returns null if there is none, or the pointer cannot be read. */
export function currentOrNull(list: DatasetList): string | null {
  try {
    return list.currentVersion();
  } catch {
    return null;
  }
}

/**
 * Finds the generation that was current when the present one was published; if that is gone, the newest older one. Skips
 * staged generations.
 */
export function findBefore(list: DatasetList): Generation | undefined {
  const current = list.currentVersion();
  // An unreadable one must not prevent a rollback to another.
  const readable = list.versions().flatMap((version) => list.findReadable(version) ?? []);
  const published = readable.filter((one) => !isStaged(one));
  const after = published.find(({ version }) => version === current)?.published_after;
  return (
    published.find(({ version }) => version === after) ??
    published.findLast(({ version }) => current !== null && version < current)
  );
}

/** Name of a dataset being built. */
export const draftName = ".draft.sqlite";
/** Name of the file with texts of records, while a large dataset is built. */
export const draftTextsName = ".draft.sqlite.texts";
/**
 * Name of the facts of a dataset that is being named or published for the first time. They are written before any other
 * change and removed after the last, so they tell how to finish or undo an interrupted change.
 */
const draftFactsName = ".draft.json";

/** Clears leftovers. The caller holds the import lock, so that no unfinished file belongs to a running process. */
export function clearLeftovers(folder: string): void {
  settleDraft(folder);
  for (const name of readdirSync(folder))
    if (name.startsWith(draftName) || (asideShape.test(name) && isOurs(name))) remove(folder, name);
}

const isOurs = (name: string) => /^(?:current|\d{8}T\d{6}Z-[0-9a-f]{8}\.json)\./.test(name);

const remove = (folder: string, name: string) => rmSync(join(folder, name), { force: true });

/**
 * Finds a named dataset whose first publication the pointer does not confirm: it is under way or was interrupted. Returns
 * null if there is none, or a damaged pointer cannot tell.
 * @returns a dataset that is staged as before if `published_at` is null. Otherwise an import was about to publish it, and
 *   it does not count as a dataset yet.
 */
function findUnconfirmed(folder: string): Generation | null {
  const facts = readDraftFacts(folder);
  if (facts === null || !existsSync(join(folder, `${facts.version}.json`))) return null;
  const current = readPointer(folder);
  const isUnconfirmed = current === null || (isVersion(current) && current !== facts.version);
  return isUnconfirmed ? facts : null;
}

/** Finishes or undoes an interrupted change, whichever leaves a sound dataset in a known state. */
function settleDraft(folder: string): void {
  if (!existsSync(join(folder, draftFactsName))) return;
  const facts = readDraftFacts(folder);
  const unconfirmed = findUnconfirmed(folder);
  const current = readPointer(folder);
  // Nobody acted upon a truncated file.
  if (facts !== null) {
    const { version } = facts;
    const hasFacts = existsSync(join(folder, `${version}.json`));
    if (hasFacts && current !== null && !isVersion(current)) return;
    if (unconfirmed?.published_at === null) {
      renameSync(join(folder, draftFactsName), join(folder, `${version}.json`));
    } else if (!hasFacts || unconfirmed !== null) {
      remove(folder, `${version}.sqlite`);
      remove(folder, `${version}.json`);
    }
  }
  remove(folder, draftFactsName);
  syncPath(folder);
}

const isVersion = (text: string) => versionShape.test(text);

const readPointer = (folder: string) => readIfThere(join(folder, "current"))?.trim() ?? null;

/** Reads the facts of a draft. Returns null if there are none, or the file was truncated. */
function readDraftFacts(folder: string): Generation | null {
  const text = readIfThere(join(folder, draftFactsName));
  if (text === null) return null;
  try {
    const facts = JSON.parse(text) as Generation | null;
    return facts !== null && isVersion(String(facts.version)) ? withAllCounts(facts) : null;
  } catch {
    return null;
  }
}
