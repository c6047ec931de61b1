/** Keeps the read model of the current generation at hand, and takes a new one over when the pointer moves. */
import { Worker } from "node:worker_threads";
import type { DatasetParts } from "#search/dataset-parts.ts";
import { openReadModel, type ReadModel } from "#search/read-model.ts";
import type { Catalogue } from "./catalogue.ts";
import type { Loading, LoadOrder } from "./load-worker.ts";

export interface Follower {
  /** The model to answer from; one reference for a whole request. Null while there is no dataset. */
  model(): ReadModel | null;
  /** Looks at the pointer now; settles when what it names is served, or cannot be. */
  look(): Promise<void>;
  close(): Promise<void>;
}

interface FollowRequest {
  catalogue: Catalogue;
  onModel: (model: ReadModel, from: LoadOrder) => void;
  /** A generation that cannot be served; the one before stays. Told once, however often it is tried. */
  onFault: (error: Error) => void;
  /** Milliseconds of a clock that never goes back. */
  now: () => number;
}

/** Half of what is promised, so that a new dataset is noticed within a second. */
const lookEveryMilliseconds = 500;

/** What hinders may pass: too little memory, too few descriptors, a file that this user was not let to read. */
export const tryAgainMilliseconds = 60_000;

/** Begins to load the current generation at once. */
export function followCurrent({ catalogue, onModel, onFault, now }: FollowRequest): Follower {
  let model: ReadModel | null = null;
  let tried: string | null = null;
  let tryAgainAt = Infinity;
  let looking: Promise<void> | null = null;
  let lastFault = "";
  const closing = new AbortController();

  async function lookOnce(): Promise<void> {
    try {
      const generation = catalogue.current();
      // With the time, so that a version that was published again is tried again.
      const named = generation === null ? null : `${generation.version} ${generation.published_at}`;
      if (generation === null || (named === tried && now() < tryAgainAt)) return;
      tried = named;
      tryAgainAt = now() + tryAgainMilliseconds;
      const order = { path: catalogue.pathOf(generation.version), generation };
      const parts = await load({ ...order, isTakeover: model !== null }, closing.signal);
      model = openReadModel(parts);
      tryAgainAt = Infinity;
      lastFault = "";
      onModel(model, order);
    } catch (error) {
      // The pointer is looked at twice a second; the same fault is worth one line.
      const { message } = error as Error;
      if (message !== lastFault && !closing.signal.aborted) onFault(error as Error);
      lastFault = message;
    }
  }

  const look = () => {
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

/** Whoever aborts does not wait for a load that may take seconds. */
function load(workerData: Loading, signal: AbortSignal): Promise<DatasetParts> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./load-worker.ts", import.meta.url), { workerData });
    const stop = () => void worker.terminate();
    signal.addEventListener("abort", stop);
    worker.once("message", resolve);
    worker.once("error", reject);
    worker.once("exit", () => {
      signal.removeEventListener("abort", stop);
      reject(new Error("The worker that loads datasets ended without an answer."));
    });
  });
}
