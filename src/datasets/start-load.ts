/** Starts the worker that reads a generation. Imports no search, so that a start can begin with it. */
import { Worker } from "node:worker_threads";
import type { DatasetParts } from "#search/dataset-parts.ts";
import type { Catalogue } from "./catalogue.ts";
import type { Loading, LoadOrder } from "./load-worker.ts";

export interface Loaded {
  parts: DatasetParts;
  /**
   * Ends the worker, which frees this memory. Freeing 700 MB takes 80 ms, and the HTTP thread must not stop for that. Left
   * to the garbage collector it may stay for hours.
   */
  free(memory: ArrayBuffer[]): void;
}

export interface Load {
  order: LoadOrder;
  loaded: Promise<Loaded>;
  /** Resolves when the worker has ended, as it does after it was told to free memory. */
  ended: Promise<void>;
  /** Ends the worker at once, whatever it is doing. */
  stop(): void;
}

export function startLoad(workerData: Loading): Load {
  const worker = new Worker(new URL("./load-worker.ts", import.meta.url), { workerData });
  const free = (memory: ArrayBuffer[]) => worker.postMessage(memory, memory);
  const loaded = new Promise<Loaded>((resolve, reject) => {
    worker.once("message", (parts: DatasetParts) => resolve({ parts, free }));
    worker.once("error", reject);
    worker.once("exit", () =>
      reject(new Error("The worker that loads datasets ended without an answer.")),
    );
  });
  const ended = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
  return { order: workerData, loaded, ended, stop: () => void worker.terminate() };
}

/** Loads the current generation before anything needs it. Returns null if there is none, or the follower will say why. */
export function loadAhead(catalogue: Catalogue): Load | null {
  try {
    const generation = catalogue.current();
    if (generation === null) return null;
    const path = catalogue.pathOf(generation.version);
    const load = startLoad({ path, generation, isTakeover: false });
    // Nobody may come to wait for it.
    load.loaded.catch(() => {});
    return load;
  } catch {
    return null;
  }
}
