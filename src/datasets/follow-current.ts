/** Keeps a read model of the current generation, and replaces it when the pointer moves. */
import { openReadModel, type ReadModel } from "#search/read-model.ts";
import type { Catalogue } from "./catalogue.ts";
import type { LoadOrder } from "./load-worker.ts";
import { type Load, type Loaded, startLoad } from "./start-load.ts";
import { buffersIn } from "./stored-arrays.ts";

export type Follower = ReturnType<typeof followCurrent>;

interface FollowRequest {
  catalogue: Catalogue;
  /** Load of the current generation that was started in advance; null if none was. */
  ahead?: Load | null;
  onModel: (model: ReadModel, from: LoadOrder) => void;
  /** Called when a generation cannot be served, but not again for the same fault. The previous one is still served. */
  onFault: (error: Error) => void;
  /** Returns monotonic milliseconds. */
  now: () => number;
}

/** Time between checks of the pointer, in ms. A new dataset must be noticed within 1 s. */
const lookEveryMilliseconds = 500;

/** Time until a failed load is retried, in ms. The cause, such as too little memory, may be gone by then. */
export const tryAgainMilliseconds = 60_000;

/** Time after which a replaced dataset is freed, in ms. The turn that takes over the new one is already long. */
export const freeAfterMilliseconds = 2000;

/** Follows the pointer. Starts loading the current generation at once. */
export function followCurrent(request: FollowRequest) {
  const { catalogue, onModel, onFault, now } = request;
  let { ahead = null } = request;
  let model: ReadModel | null = null;
  /** Model to be freed; null if there is none. `free` sends its memory to the worker that loaded its successor. */
  let replaced: { model: ReadModel | null; at: number; free: Loaded["free"] } | null = null;
  let tried: string | null = null;
  let tryAgainAt = Infinity;
  let looking: Promise<void> | null = null;
  let lastFault = "";
  const closing = new AbortController();

  function freeReplaced(): void {
    if (replaced === null) return;
    const { model: old, free } = replaced;
    replaced = null;
    const memory = old === null ? [] : buffersIn(old.parts);
    old?.close();
    free(memory);
  }

  /** Loads a generation. Closing the follower stops the load instead of waiting seconds for it. */
  function load(order: LoadOrder): Promise<Loaded> {
    const begun = ahead;
    ahead = null;
    const isAhead = begun?.order.generation.version === order.generation.version;
    if (!isAhead) begun?.stop();
    const { loaded, ended, stop } = isAhead
      ? begun
      : startLoad({ ...order, isTakeover: model !== null });
    closing.signal.addEventListener("abort", stop);
    void ended.then(() => closing.signal.removeEventListener("abort", stop));
    return loaded;
  }

  async function lookOnce(): Promise<void> {
    try {
      const generation = catalogue.current();
      // The time is included, so that a version published again is tried again.
      const named = generation === null ? null : `${generation.version} ${generation.published_at}`;
      if (generation === null || (named === tried && now() < tryAgainAt)) return;
      tried = named;
      tryAgainAt = now() + tryAgainMilliseconds;
      const order = { path: catalogue.pathOf(generation.version), generation };
      freeReplaced();
      const { parts, free } = await load(order);
      replaced = { model: null, at: now(), free };
      const next = openReadModel(parts);
      if (model === null) freeReplaced();
      else replaced.model = model;
      model = next;
      tryAgainAt = Infinity;
      lastFault = "";
      onModel(model, order);
    } catch (error) {
      // The pointer is checked twice a second, but the same fault is reported once.
      const { message } = error as Error;
      if (message !== lastFault && !closing.signal.aborted) onFault(error as Error);
      lastFault = message;
    }
  }

  /** Checks the pointer. Resolves once the current generation is served or has failed to load. */
  const look = (): Promise<void> => {
    if (replaced !== null && now() - replaced.at >= freeAfterMilliseconds) freeReplaced();
    looking ??= lookOnce().finally(() => (looking = null));
    return looking;
  };

  void look();
  const timer = setInterval(() => void look(), lookEveryMilliseconds);
  timer.unref();
  return {
    /**
     * Returns the model to answer from. Take it once per request, and do not keep it beyond the current turn of the
     * event loop: a replaced model is closed. Returns null while no dataset is loaded.
     */
    model: () => model,
    look,
    /** Checks the pointer, and retries a failed generation at once, because its file may have been replaced. */
    async lookAnew(): Promise<void> {
      await looking;
      if (tryAgainAt !== Infinity) tryAgainAt = -Infinity;
      return look();
    },
    async close(): Promise<void> {
      clearInterval(timer);
      closing.abort();
      ahead?.stop();
      await looking;
    },
  };
}
