/** The place where datasets are kept, for commands and for the thread that follows a database: a folder or PostgreSQL. */
import { foldVersion } from "#records/fold.ts";
import type { Publication } from "#records/publication.ts";
import type { DatasetList } from "./catalogue.ts";
import type { GenerationCheck } from "./check-generations.ts";
import { formatVersion } from "./format.ts";
import type { Generation } from "./generation.ts";
import type { SeenInstance } from "./shared-rows.ts";

/** Format and fold of this program's datasets, such as `3.1`. A program reads only the ones that it writes. */
export const ownFormat = `${formatVersion}.${foldVersion}`;

/** Function that reports a mishap which is no reason to fail. @param sentence text without a full stop. */
export type Warn = (sentence: string) => void;

/** All datasets at one moment. A damaged one throws only when it is asked for, so that the others can be used. */
export interface Kept extends DatasetList {
  /** Datasets that imports are about to publish. Only servers use them, which fetch them ahead. */
  added: readonly Generation[];
  /** Time by the clock of the store, in ms since 1970. */
  readAt: number;
}

/** A verified file that is not in the store yet. */
export interface Draft {
  path: string;
  generation: Generation;
  /** Does it wait to be published on request? Otherwise the caller publishes it at once. */
  isStaged: boolean;
}

/** Note of a publication with a step, and the hash at the start of the step. */
export interface MadeStep extends Pick<Publication, "hash" | "step"> {
  from_hash: string;
}

/** Datasets, and the publications that led to the current one. A caller that changes anything holds the import lock. */
export interface DatasetStore {
  /** Folder of this machine for drafts, steps and files of datasets: all files, or those fetched from a database. */
  readonly folder: string;
  /** CHANGES_DAYS; 0 keeps no steps. */
  readonly changesDays: number;
  readonly warn: Warn;
  read(): Promise<Kept>;
  /** Lists publications, oldest first. @throws DatasetFault if the list is damaged. */
  publications(): Promise<readonly Publication[]>;
  /**
   * Makes sure that the file of a version is on this machine.
   * @returns its path. `openPublished` verifies the file.
   * @throws DatasetFault naming what is missing or damaged, or the reason with which `signal` was aborted.
   */
  open(version: string, signal?: AbortSignal): Promise<string>;
  /** Takes over a draft, whole or not at all. @returns the new path of its file. */
  add(draft: Draft): Promise<string>;
  /**
   * Makes a version the current one. A draft that was added for this does not exist for anybody else until then.
   * @param expected version that is current as far as the caller knows; null if there is none, or the pointer is damaged.
   * @param step step from the one to the other; null if there is none.
   * @throws DatasetFault if another version is current, or this one is gone.
   */
  publish(version: string, expected: string | null, step: MadeStep | null): Promise<Generation>;
  /** Pins or unpins a version. An existing pin keeps its time. @throws DatasetFault if there is no such version. */
  pin(version: string, isPinned: boolean): Promise<Generation>;
  /** Removes a version. @throws DatasetFault if it is the current one. */
  remove(version: string): Promise<void>;
  /** Forgets publications older than CHANGES_DAYS with their steps, except the newest one; 0 forgets that, too. */
  forgetSteps(): Promise<void>;
  /** Checks a version with its whole content. */
  check(version: string): Promise<GenerationCheck>;
  /** Lists the servers of several machines with the formats that they read. Those of a folder do not report themselves. */
  servers(): Promise<readonly SeenInstance[]>;
}

/** Lock for one import at a time. */
interface ImportLock {
  /**
   * Takes the lock at once or not at all, and clears what killed imports left.
   * @returns a function that releases it.
   * @throws StoreFault `busy` if another process holds it.
   */
  take(): Promise<() => Promise<void>>;
}

/** Does work under the lock. @throws as `take`. */
export async function underLock<R>(lock: ImportLock, work: () => R | Promise<R>): Promise<R> {
  const release = await lock.take();
  try {
    return await work();
  } finally {
    await release();
  }
}

export type OpenStore = DatasetStore & ImportLock & { close(): void };

export interface StoreOrder extends Pick<DatasetStore, "folder" | "changesDays" | "warn"> {
  /** Returns milliseconds since 1970. A database has a clock of its own for what other machines see. */
  now(): number;
}
