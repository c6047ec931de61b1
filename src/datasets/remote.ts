/** What keeps the datasets of several machines in one place; the folder of each machine is a cache in front of it. */
import { foldVersion } from "#records/fold.ts";
import { formatVersion } from "./format.ts";
import type { Generation } from "./generation.ts";
import type { Instances } from "./instances.ts";
import type { MadeStep } from "./keep-steps.ts";
import type { SharedPublications } from "./shared-publications.ts";

/** The format and the fold of a dataset, such as `3.1`: a program reads those it writes. */
export const ownFormat = `${formatVersion}.${foldVersion}`;

/**
 * - `added`: by an import that is about to publish it; no dataset to anybody else, and gone with the next import if that one died
 * - `staged`: to be published on request
 */
type Status = "added" | "staged" | "published";

export interface SharedGeneration extends Generation {
  format: string;
  status: Status;
  /** Who brought it, then who published it last: `process 123 on host`. */
  publisher: string;
}

/** All that is known of the shared datasets at one moment. */
export interface SharedState {
  /** Greater with every change. */
  change: number;
  current: SharedGeneration | null;
  /** Oldest first, those that are only added included. */
  generations: readonly SharedGeneration[];
  /** By the clock of the database, in milliseconds since 1970. */
  readAt: number;
}

export interface RemoteLock {
  /** @throws StoreFault where the connection that holds it ended, so that somebody else may hold it by now. */
  check(): void;
  release(): Promise<void>;
}

/** @throws StoreFault from every call where the database is away, within two seconds but for `push` and `pull`. */
export interface DatasetRemote {
  read(): Promise<SharedState>;
  current(): Promise<SharedGeneration | null>;
  /**
   * Brings the file into the cache, whole or not at all.
   * @returns its path.
   * @throws DatasetFault naming what is stored damaged; whatever `signal` was aborted with.
   */
  pull(generation: Generation, signal?: AbortSignal): Promise<string>;
  /** Stores a verified file, whole or not at all; servers fetch it at once, so that publishing it takes no time. */
  push(path: string, generation: Generation, status: "added" | "staged"): Promise<void>;
  /**
   * Makes a version the current one for all machines.
   * @param expected the version that is current, as far as the caller knows.
   * @param step that leads there, stored already; null where there is none.
   * @throws DatasetFault where it is not, or the version is gone.
   */
  publish(
    version: string,
    expected: string | null,
    step?: MadeStep | null,
  ): Promise<SharedGeneration>;
  pin(version: string, isPinned: boolean): Promise<SharedGeneration>;
  /** @throws DatasetFault for the current one. */
  remove(version: string): Promise<void>;
  /** Removes what imports that died were about to publish. The caller holds the lock. */
  removeAdded(): Promise<void>;
  /**
   * Looks at once and twice a second.
   * @param onLook gets the same object for as long as nothing changes; an error while the database is away.
   * @returns what ends it.
   */
  watch(onLook: (seen: SharedState | Error) => void): () => void;
  /** One import at a time. @throws StoreFault `busy` naming who holds it. */
  lock(): Promise<RemoteLock>;
  instances: Instances;
  publications: SharedPublications;
  close(): void;
}
