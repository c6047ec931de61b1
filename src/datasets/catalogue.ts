/** The folder of generations: files `<version>.sqlite`, their facts in `<version>.json`, and the pointer `current`. */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { replaceFile, syncPath, writeSynced } from "#store/whole-file.ts";
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

/** Read-only view of the datasets in a folder or a database. */
export interface DatasetList {
  folder: string;
  pathOf(version: string): string;
  /** Lists all generations that `findReadable` finds, oldest first. */
  list(): Generation[];
  /**
   * Lists versions, oldest first. In a folder, includes a version even if one of its two files is missing. Omits a
   * version that an import has yet to publish.
   */
  versions(): string[];
  /**
   * Reports whether a dataset is stored. In a folder, both of its files must exist. Returns false while its import has
   * yet to publish it.
   */
  has(version: string): boolean;
  /**
   * Returns a generation.
   * @throws DatasetFault if there is none, or its facts are unreadable or do not match the version.
   */
  find(version: string): Generation;
  /** Returns a generation. Returns null if `find` throws a DatasetFault. */
  findReadable(version: string): Generation | null;
  /** Returns the current version; null without a pointer. @throws DatasetFault if the pointer names no version. */
  currentVersion(): string | null;
  /** Returns the current generation; null without a pointer. @throws as `find` and `currentVersion` do. */
  current(): Generation | null;
}

export type Catalogue = ReturnType<typeof openCatalogue>;

/** Opens a catalogue. Creates its folder if it does not exist. */
export function openCatalogue(folder: string) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const pathOf = (version: string) => join(folder, `${version}.sqlite`);
  const factsOf = (version: string) => join(folder, `${version}.json`);
  const pointer = join(folder, "current");
  const exportsFolder = join(folder, "exports");
  const draftFacts = join(folder, draftFactsName);
  /** Reports whether an import has named a version but not yet published it. */
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
    // The facts in `<version>.json` may already say that the version was published.
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
  const list = () => versions().flatMap((version) => findReadable(version) ?? []);
  /** Returns the version in the pointer; null if there is none or it is damaged. @throws if it cannot be read. */
  const namedVersion = () => {
    const version = readPointer(folder);
    return version !== null && isVersion(version) ? version : null;
  };
  /** Gives a draft its final name. Writes `.draft.json` first; the caller writes `<version>.json` afterwards. */
  const nameDraft = (draftPath: string, generation: Generation) => {
    writeSynced(draftFacts, factsText(generation));
    syncPath(folder);
    renameSync(draftPath, pathOf(generation.version));
  };
  /**
   * Makes a change, and finishes or undoes it if it fails. The pointer moves last and decides whether a publication
   * took effect. The draft's facts show what to undo.
   */
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
      `${pointer} does not name a dataset. ${last === undefined ? "Remove this file, and import every source again." : `Run 'gp-records datasets publish ${last}', which writes this file again.`}`,
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
    /** Folder of exported datasets. Each exported version has a subfolder, which is removed with the version. */
    exportsFolder,
    /** Stages a verified draft. After an interruption it is staged, or `clearLeftovers` deletes it. */
    stage(draftPath: string, generation: Generation): void {
      confirmed(() => {
        nameDraft(draftPath, generation);
        renameSync(draftFacts, factsOf(generation.version));
      });
      syncPath(folder);
    },
    /**
     * Adds a verified draft and makes it current. Servers notice within 1 s. After an interruption the dataset is
     * current, or `clearLeftovers` deletes it.
     */
    publishDraft(draftPath: string, generation: Generation, time: string): Generation {
      const published = asPublished(generation, time, namedVersion());
      confirmed(() => {
        nameDraft(draftPath, published);
        replaceFile(factsOf(published.version), factsText(published));
        replaceFile(pointer, `${published.version}\n`);
      });
      return published;
    },
    /** Makes a version current. An interruption leaves a staged dataset either current or still staged. */
    publish(version: string, time: string): Generation {
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
    /** Pins a version, so that pruning keeps it. @param time time of the pin; null removes the pin. */
    pin(version: string, time: string | null): Generation {
      const pinned = { ...find(version), pinned_at: time };
      replaceFile(factsOf(version), factsText(pinned));
      return pinned;
    },
    /** Deletes the files and exports of a version. Never call it for the current version. */
    remove(version: string): void {
      // If the process is killed after the first deletion, `list` omits the version, and `versions` still lists it.
      rmSync(pathOf(version), { force: true });
      rmSync(join(exportsFolder, version), { recursive: true, force: true });
      rmSync(factsOf(version), { force: true });
      syncPath(folder);
    },
  };
}

/** Returns the current version. Returns null if there is none, or `currentVersion` throws. */
export function currentOrNull(list: DatasetList): string | null {
  try {
    return list.currentVersion();
  } catch {
    return null;
  }
}

/**
 * Finds the generation that was current before the current one's first publication, or else the newest one older than
 * the current one. Returns undefined if there is neither. Skips staged and unreadable generations.
 */
export function findBefore(list: DatasetList): Generation | undefined {
  const current = list.currentVersion();
  const published = list.list().filter((one) => !isStaged(one));
  const after = published.find(({ version }) => version === current)?.published_after;
  return (
    published.find(({ version }) => version === after) ??
    published.findLast(({ version }) => current !== null && version < current)
  );
}

export const draftName = ".draft.sqlite";
/** Name of the file that holds record texts while a large dataset is built. */
export const draftTextsName = ".draft.sqlite.texts";
/**
 * Name of the file that holds a dataset's facts while the dataset gets its final name or is first published. It is
 * written first and disappears last, so it shows how to finish or undo an interrupted change.
 */
const draftFactsName = ".draft.json";

/**
 * Finishes or undoes an interrupted change, and deletes leftovers of killed commands. The caller holds the import lock,
 * so no unfinished file is still in use.
 */
export function clearLeftovers(folder: string): void {
  settleDraft(folder);
  for (const name of readdirSync(folder))
    if (name.startsWith(draftName) || unfinishedShape.test(name)) remove(folder, name);
}

/** Name pattern of temporary files that `replaceFile` leaves behind if its process is killed. */
const unfinishedShape = /^(?:current|\d{8}T\d{6}Z-[0-9a-f]{8}\.json)\.\d+\.tmp$/;

const remove = (folder: string, name: string) => rmSync(join(folder, name), { force: true });

/**
 * Finds a dataset that has its final name but is not current yet, because its first publication is under way or was
 * interrupted. Returns null if there is none, or if the pointer is damaged.
 * @returns its facts. The dataset counts as staged if `published_at` is null. Otherwise an import was about to publish
 *   it, and it does not count as a dataset yet.
 */
function findUnconfirmed(folder: string): Generation | null {
  const facts = readDraftFacts(folder);
  if (facts === null || !existsSync(join(folder, `${facts.version}.json`))) return null;
  const current = readPointer(folder);
  const isUnconfirmed = current === null || (isVersion(current) && current !== facts.version);
  return isUnconfirmed ? facts : null;
}

/** Finishes or undoes an interrupted change. Changes nothing if that depends on a damaged pointer. */
function settleDraft(folder: string): void {
  if (!existsSync(join(folder, draftFactsName))) return;
  const facts = readDraftFacts(folder);
  const unconfirmed = findUnconfirmed(folder);
  const current = readPointer(folder);
  // If `.draft.json` is truncated, the interrupted change had not touched anything else.
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

/** Reads the facts of a draft. Returns null if there are none, or the file is truncated. */
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
