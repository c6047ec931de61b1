/** Keeps a read model of the current generation, and replaces it when the pointer moves. */
import { Worker } from "node:worker_threads";
import type { DatasetParts } from "#search/dataset-parts.ts";
import { openReadModel, type ReadModel } from "#search/read-model.ts";
import type { Catalogue } from "./catalogue.ts";
import type { Loading, LoadOrder } from "./load-worker.ts";
import { buffersIn } from "./stored-arrays.ts";

export interface Follower {
  /**
   * The model to answer from: take it once per request, and keep it for no later turn of the event loop, because it is
   * closed once another one has replaced it. Null while there is no dataset.
   */
  model(): ReadModel | null;
  /** Checks the pointer now; settles once what it names is served or has failed to load. */
  look(): Promise<void>;
  close(): Promise<void>;
}

interface FollowRequest {
  catalogue: Catalogue;
  onModel: (model: ReadModel, from: LoadOrder) => void;
  /** A generation cannot be served, so the previous one stays. Reported once, however often it is tried. */
  onFault: (error: Error) => void;
  /** Monotonic clock in milliseconds. */
  now: () => number;
}

/** Half of the promised second within which a new dataset is noticed. */
const lookEveryMilliseconds = 500;

/** The cause may pass: too little memory, too few file descriptors, missing permissions. */
export const tryAgainMilliseconds = 60_000;

/** The turn in which a dataset is taken over is dear enough, and so are the next ones, whose answers are made anew. */
export const freeAfterMilliseconds = 2000;

/** Starts loading the current generation at once. */
export function followCurrent({ catalogue, onModel, onFault, now }: FollowRequest): Follower {
  let model: ReadModel | null = null;
  /** The model that was served before, until its memory is freed by the thread that loaded the present one. */
  let replaced: { model: ReadModel; at: number; free: Loaded["free"] } | null = null;
  let tried: string | null = null;
  let tryAgainAt = Infinity;
  let looking: Promise<void> | null = null;
  let lastFault = "";
  const closing = new AbortController();

  function freeReplaced(): void {
    if (replaced === null) return;
    const { model: old, free } = replaced;
    replaced = null;
    const memory = buffersIn(old.parts);
    old.close();
    free(memory);
  }

  async function lookOnce(): Promise<void> {
    try {
      const generation = catalogue.current();
      // Includes the time, so that a version that is published again is tried again.
      const named = generation === null ? null : `${generation.version} ${generation.published_at}`;
      if (generation === null || (named === tried && now() < tryAgainAt)) return;
      tried = named;
      tryAgainAt = now() + tryAgainMilliseconds;
      const order = { path: catalogue.pathOf(generation.version), generation };
      freeReplaced();
      const { parts, free } = await load({ ...order, isTakeover: model !== null }, closing.signal);
      if (model === null) free([]);
      else replaced = { model, at: now(), free };
      model = openReadModel(parts);
      tryAgainAt = Infinity;
      lastFault = "";
      onModel(model, order);
    } catch (error) {
      // The pointer is checked twice a second; the same fault is reported once.
      const { message } = error as Error;
      if (message !== lastFault && !closing.signal.aborted) onFault(error as Error);
      lastFault = message;
    }
  }

  const look = () => {
    if (replaced !== null && now() - replaced.at >= freeAfterMilliseconds) freeReplaced();
    looking ??= lookOnce().finally(() => (looking = null));
    return looking;
  };

  void look();
  const timer = setInterval(() => void look(), lookEveryMilliseconds);
  timer.unref();
  return {
    model: () => model,
    look,
    async close() {
      clearInterval(timer);
      closing.abort();
      await looking;
    },
  };
}

interface Loaded {
  parts: DatasetParts;
  /**
   * Ends the worker, which frees this memory by it. To free 700 MB takes 80 ms, for which the HTTP thread must not stop; left to
   * the garbage collector it may stay for hours.
   */
  free(memory: ArrayBuffer[]): void;
}

/** Aborting does not wait for a load, which may take seconds. */
function load(workerData: Loading, signal: AbortSignal): Promise<Loaded> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./load-worker.ts", import.meta.url), { workerData });
    const stop = () => void worker.terminate();
    signal.addEventListener("abort", stop);
    const free = (memory: ArrayBuffer[]) => worker.postMessage(memory, memory);
    worker.once("message", (parts: DatasetParts) => resolve({ parts, free }));
    worker.once("error", reject);
    worker.once("exit", () => {
      signal.removeEventListener("abort", stop);
      reject(new Error("The worker that loads datasets ended without an answer."));
    });
  });
}
