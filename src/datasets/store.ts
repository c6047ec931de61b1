/**
 * Stores of datasets, in a folder of one machine or in PostgreSQL (`postgres.ts`), for commands and for the thread that
 * follows a database. A server reads its folder directly (`follow-current.ts`).
 */
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { foldVersion } from "#records/fold.ts";
import type { Publication } from "#records/publication.ts";
import { takeLock } from "#store/lock.ts";
import { clearLeftovers, currentOrNull, type DatasetList, openCatalogue } from "./catalogue.ts";
import type { GenerationCheck } from "./check-generations.ts";
import { isCurrentDataset, overtaken } from "./dataset-fault.ts";
import { formatVersion, type Generation, timeOf } from "./generation.ts";
import {
  type MadeStep,
  openPublications,
  withoutSteps,
  withPublication,
  youngerThan,
} from "./publications.ts";

/** Format and fold of this program's datasets, such as `3.1`. A program reads only its own format and fold. */
export const ownFormat = `${formatVersion}.${foldVersion}`;

/** Function that warns of a problem. @param sentence warning without a full stop. */
export type Warn = (sentence: string) => void;

/** A verified file that is not in the store yet. */
export interface Draft {
  path: string;
  generation: Generation;
  /** True if it waits to be published on request. Otherwise the caller publishes it at once. */
  isStaged: boolean;
}

/** A server that uses the shared datasets. */
export interface Instance {
  id: string;
  host: string;
  pid: number;
  program: string;
  /** Formats that it can read, in the form of `ownFormat`. */
  formats: readonly string[];
  /** Version that it serves; null while it serves none. */
  served: string | null;
}

/** A server as `instances --json` shows it. */
export interface SeenInstance extends Instance {
  /** True if it was seen recently enough to count as running. */
  live: boolean;
  /** Time when it was last seen, RFC 3339, by the database's clock. */
  seen_at: string;
  /** Time when it was first seen, RFC 3339, by the database's clock. */
  started_at: string;
}

/** Datasets, and the publications that led to the current one. A caller that changes anything holds the import lock. */
export interface DatasetStore {
  /**
   * Folder on this machine for drafts, steps and dataset files. With a database, it has only those dataset files that
   * were fetched or made here and not removed since.
   */
  readonly folder: string;
  /** Number of days for which steps are kept (CHANGES_DAYS); 0 keeps none. */
  readonly changesDays: number;
  readonly warn: Warn;
  /** Returns the list of all datasets: a snapshot of a database, or a live view of a folder. */
  read(): Promise<DatasetList>;
  /** Lists publications, oldest first. @throws DatasetFault if the list or the pointer of a folder is damaged. */
  publications(): Promise<readonly Publication[]>;
  /**
   * Makes sure that the file of a version is on this machine.
   * @returns its path. Open the file with `openPublished`, which verifies it.
   * @throws DatasetFault that names what is missing or damaged.
   */
  open(version: string): Promise<string>;
  /** Adds a draft, whole or not at all. @returns the path where its file is afterwards. */
  add(draft: Draft): Promise<string>;
  /**
   * Makes a version current. A draft that was added without staging is listed only afterwards.
   * @param expected version that the caller believes to be current; null if there is none or the pointer is damaged.
   * @param step step from the expected version to the new one; null if there is none.
   * @throws DatasetFault if the expected version is not current, or the new one is gone.
   */
  publish(version: string, expected: string | null, step: MadeStep | null): Promise<Generation>;
  /** Pins or unpins a version. An existing pin keeps its time. @throws DatasetFault if there is no such version. */
  pin(version: string, isPinned: boolean): Promise<Generation>;
  /** Removes a version. @throws DatasetFault if it is current. */
  remove(version: string): Promise<void>;
  /** Deletes publications older than CHANGES_DAYS, with their steps. Keeps the newest unless CHANGES_DAYS is 0. */
  forgetSteps(): Promise<void>;
  /**
   * Deletes the steps that `isMeant` selects by their file, unreadable steps, and steps that no publication has.
   * Clients that follow changes then read all records again.
   */
  removeSteps(isMeant: (path: string) => Promise<boolean>): Promise<void>;
  /** Checks the whole content of a version. */
  check(version: string): Promise<GenerationCheck>;
  /** Lists the servers that share a database, with the formats that they read. Returns none for a folder. */
  servers(): Promise<readonly SeenInstance[]>;
}

export interface OpenStore extends DatasetStore {
  /**
   * Takes the lock for changing datasets. Does not wait for it. Also removes what killed commands left behind.
   * @returns a function that releases the lock.
   * @throws StoreFault `busy` if another process holds it.
   */
  take(): Promise<() => Promise<void>>;
  close(): void;
}

/** Does work under the lock. @throws as `take` does. */
export async function underLock<R>(store: OpenStore, work: () => R | Promise<R>): Promise<R> {
  const release = await store.take();
  try {
    return await work();
  } finally {
    await release();
  }
}

export interface StoreOrder extends Pick<DatasetStore, "folder" | "changesDays" | "warn"> {
  /** Returns milliseconds since 1970. A store in a database uses the database's clock instead. */
  now(): number;
}

export function openFolderStore({ folder, changesDays, warn, now }: StoreOrder): OpenStore {
  const catalogue = openCatalogue(folder);
  const publications = openPublications(folder);
  /** Drafts to be published without staging. Only their publication moves their files. */
  const added = new Map<string, Draft>();
  const list = () => publications.list(catalogue.currentVersion());

  /** Notes a publication before the pointer moves. Only warns on failure: clients then read all records again. */
  function note(version: string, published_at: string, step: MadeStep | null): void {
    try {
      const to = { version, published_at };
      publications.write(withPublication(list(), catalogue.current(), to, step));
    } catch (error) {
      const reason = (error as Error).message.replace(/\.$/, "");
      warn(
        `${version} is being published, but could not be added to the list for /changes, so clients that follow /changes must read all records again: ${reason}`,
      );
    }
  }

  return {
    folder,
    changesDays,
    warn,
    read: async () => catalogue,
    publications: async () => list(),
    async open(version) {
      catalogue.find(version);
      return catalogue.pathOf(version);
    },
    async add(draft) {
      const { path, generation, isStaged } = draft;
      const { version } = generation;
      if (!isStaged) {
        added.set(version, draft);
        return path;
      }
      catalogue.stage(path, generation);
      return catalogue.pathOf(version);
    },
    async publish(version, expected, step) {
      const draft = added.get(version);
      if (draft === undefined) catalogue.find(version);
      const current = currentOrNull(catalogue);
      if (current !== expected) throw overtaken(version, current, expected);
      const time = timeOf(now());
      if (changesDays > 0) note(version, time, step);
      if (draft === undefined) return catalogue.publish(version, time);
      const published = catalogue.publishDraft(draft.path, draft.generation, time);
      added.delete(version);
      return published;
    },
    async pin(version, isPinned) {
      const found = catalogue.find(version);
      if ((found.pinned_at === null) !== isPinned) return found;
      return catalogue.pin(version, isPinned ? timeOf(now()) : null);
    },
    async remove(version) {
      const draft = added.get(version);
      // The file may be elsewhere or gone: a failed publication may have renamed or removed it.
      if (draft !== undefined) return rmSync(draft.path, { force: true });
      if (currentOrNull(catalogue) === version) throw isCurrentDataset(version);
      catalogue.remove(version);
    },
    async forgetSteps() {
      const noted = list();
      const kept = youngerThan(noted, changesDays, now());
      if (kept.length < noted.length) publications.write(kept);
      publications.clear(kept);
    },
    async removeSteps(isMeant) {
      const kept = await withoutSteps(
        list(),
        async (from, to) =>
          publications.openStep(from, to) === null || isMeant(publications.stepPath(from, to)),
      );
      if (kept.length > 0) publications.write(kept);
      publications.clear(kept);
    },
    async check(version) {
      const { checkGeneration } = await import("./check-generations.ts");
      return checkGeneration(catalogue, version, true);
    },
    servers: async () => [],
    async take() {
      const dataDir = dirname(folder);
      const lock = takeLock(
        join(dataDir, "import.lock"),
        `Another command is changing the datasets in ${dataDir}. Try again when it has finished.`,
      );
      try {
        clearLeftovers(folder);
      } catch (error) {
        lock.release();
        throw error;
      }
      return async () => lock.release();
    },
    close() {},
  };
}
