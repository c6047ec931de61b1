/** The one place for the datasets of several machines. The folder of each machine is a cache of it. */
import { foldVersion } from "#records/fold.ts";
import { formatVersion } from "./format.ts";
import type { Generation } from "./generation.ts";
import type { Instances } from "./instances.ts";
import type { MadeStep } from "./keep-steps.ts";
import type { SharedPublications } from "./shared-publications.ts";

/** Format and fold of this program's datasets, such as `3.1`. A program reads only the ones that it writes. */
export const ownFormat = `${formatVersion}.${foldVersion}`;

/**
 * Status of a shared dataset:
 * - `added`: an import is about to publish it; no dataset to anybody else, and removed by the next import if that one died
 * - `staged`: to be published on request
 */
type Status = "added" | "staged" | "published";

export interface SharedGeneration extends Generation {
  format: string;
  status: Status;
  /** Process that added it, later the one that published it last: `process 123 on host`. */
  publisher: string;
}

/** All facts about the shared datasets at one moment. */
export interface SharedState {
  /** Number that grows with every change. */
  change: number;
  current: SharedGeneration | null;
  /** All datasets, oldest first, with those that are only added. */
  generations: readonly SharedGeneration[];
  /** Time by the clock of the database, in ms since 1970. */
  readAt: number;
}

export interface RemoteLock {
  /** @throws StoreFault if the connection with the lock ended: somebody else may hold it by now. */
  check(): void;
  release(): Promise<void>;
}

/** Shared datasets. Every call throws a StoreFault if the database is away, all but `push` and `pull` within 2 s. */
export interface DatasetRemote {
  read(): Promise<SharedState>;
  current(): Promise<SharedGeneration | null>;
  /**
   * Fetches the file into the cache, whole or not at all.
   * @returns its path.
   * @throws DatasetFault naming a damaged part, or the reason with which `signal` was aborted.
   */
  pull(generation: Generation, signal?: AbortSignal): Promise<string>;
  /** Stores a verified file, whole or not at all. Servers fetch it at once, so that publishing it takes no time. */
  push(path: string, generation: Generation, status: "added" | "staged"): Promise<void>;
  /**
   * Makes a version the current one for all machines.
   * @param expected version that is current, as far as the caller knows.
   * @param step stored step that leads there; null if there is none.
   * @throws DatasetFault if another version is current, or this one is gone.
   */
  publish(
    version: string,
    expected: string | null,
    step?: MadeStep | null,
  ): Promise<SharedGeneration>;
  pin(version: string, isPinned: boolean): Promise<SharedGeneration>;
  /** Removes a version. @throws DatasetFault if it is the current one. */
  remove(version: string): Promise<void>;
  /** Removes datasets that dead imports were about to publish. The caller holds the lock. */
  removeAdded(): Promise<void>;
  /**
   * Looks at the state now and twice a second.
   * @param onLook gets the same object while nothing changes, and an error while the database is away.
   * @returns a function that ends the watch.
   */
  watch(onLook: (seen: SharedState | Error) => void): () => void;
  /** Takes the lock of imports. @throws StoreFault `busy`, naming the holder. */
  lock(): Promise<RemoteLock>;
  instances: Instances;
  publications: SharedPublications;
  close(): void;
}
