/** Starts the worker that loads a generation. Does not import the search, so that a server can start a load early. */
import { Worker } from "node:worker_threads";
import type { DatasetParts } from "#search/dataset-parts.ts";
import type { Catalogue } from "./catalogue.ts";
import type { Loading } from "./load-worker.ts";

export interface Loaded {
  parts: DatasetParts;
  /**
   * Ends the worker and so frees the given memory. Freeing 700 MB takes 80 ms, which would block the HTTP thread. The
   * garbage collector might keep the memory for hours.
   */
  free(memory: ArrayBuffer[]): void;
}

export type Load = ReturnType<typeof startLoad>;

export function startLoad(order: Loading) {
  const worker = new Worker(new URL("./load-worker.ts", import.meta.url), {
    workerData: order,
  });
  const free = (memory: ArrayBuffer[]) => worker.postMessage(memory, memory);
  const loaded = new Promise<Loaded>((resolve, reject) => {
    worker.once("message", (parts: DatasetParts) => resolve({ parts, free }));
    worker.once("error", reject);
    worker.once("exit", () =>
      reject(
        new Error(
          "The worker that loads the dataset ended, perhaps because memory ran out. Give this process more memory.",
        ),
      ),
    );
  });
  /** Resolves once the worker has ended, as it does after `free`. */
  const ended = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
  return { order, loaded, ended, stop: () => void worker.terminate() };
}

/**
 * Starts to load the current generation before anything needs it. Returns null if there is none, or if the pointer or
 * the generation's facts cannot be read.
 */
export function loadAhead(catalogue: Catalogue): Load | null {
  try {
    const generation = catalogue.current();
    if (generation === null) return null;
    const path = catalogue.pathOf(generation.version);
    const load = startLoad({ path, generation, isTakeover: false });
    // Prevents an unhandled rejection if nobody awaits the load.
    load.loaded.catch(() => {});
    return load;
  } catch {
    return null;
  }
}
