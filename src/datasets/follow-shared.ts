/** Keeps a server's folder in step with the shared datasets: fetches new ones, and points at the current one. */
import type { Publication } from "#records/publication.ts";
import { comingNext, type DatasetCache, versionsToKeep } from "./dataset-cache.ts";
import { type Generation, isStaged } from "./generation.ts";
import type { SharedStore } from "./postgres.ts";
import { openPublications } from "./publications.ts";
import type { Kept } from "./store.ts";

interface FollowRequest {
  store: Pick<SharedStore, "read" | "publications" | "open" | "pullStep" | "watch">;
  cache: DatasetCache;
  /** True to fetch pinned datasets too. */
  fetchesPinned: boolean;
  /** Called each time the database answers. @param wanted version that all servers should serve. */
  onSeen: (wanted: string | null) => void;
  /** Called when the folder points at another dataset, or when the current dataset's facts or file have changed. */
  onPointed: () => void;
  /** Called with each new fault of the database or of a fetch. Called with null once both work again. */
  onFault: (error: Error | null) => void;
  /** Returns monotonic milliseconds. */
  now: () => number;
}

/**
 * Wait after a first failure, in ms. It doubles with each further failure in a row, and starts over when the datasets
 * change.
 */
const firstRetryMilliseconds = 1000;
const lastRetryMilliseconds = 60_000;

export function followShared(request: FollowRequest) {
  const { store, cache, fetchesPinned, onSeen, onPointed, onFault, now } = request;
  let state: Kept | null = null;
  let working: Promise<void> | null = null;
  let isAgain = false;
  let fetching: { version: string; abort: AbortController } | null = null;
  let retryMilliseconds = firstRetryMilliseconds;
  let retryAt = Infinity;
  const steps = openPublications(cache.catalogue.folder);
  const damaged = new Set<string>();
  const faults = { looking: "", fetching: "" };
  let isClosed = false;

  function note(part: keyof typeof faults, error: Error | null): void {
    if (isClosed) return;
    const before = faults[part];
    faults[part] = error?.message ?? "";
    // The message for an unreachable database may differ each time.
    const isNew = part === "looking" ? before === "" : before !== error?.message;
    if (error !== null && isNew) onFault(error);
    else if (error === null && before !== "" && faults.looking === "" && faults.fetching === "")
      onFault(null);
  }

  /** Fetches a dataset. Returns false if the folder already has its file and no damage is known. */
  async function fetch(generation: Generation): Promise<boolean> {
    const { version } = generation;
    if (cache.has(generation) && !damaged.has(version)) return false;
    if (cache.isWhole(generation)) {
      damaged.delete(version);
      return false;
    }
    const abort = new AbortController();
    fetching = { version, abort };
    try {
      await store.open(version, abort.signal);
      damaged.delete(version);
      return true;
    } finally {
      fetching = null;
    }
  }

  /** Points at a dataset if it is still current: a command on this folder may have moved the pointer since. */
  async function point(generation: Generation, isFetched: boolean): Promise<void> {
    const current = (await store.read()).current();
    if (current?.version !== generation.version) return;
    if (cache.point(current) || isFetched) onPointed();
  }

  async function fetchStep({ from, version, step }: Publication): Promise<void> {
    if (from === null || step === null || steps.openStep(from, version) !== null) return;
    await steps.addStep(from, version, (path) => store.pullStep(path, from, version));
  }

  async function work(seen: Kept): Promise<void> {
    const current = seen.current();
    const isFetched = current !== null && (await fetch(current));
    const publications = await store.publications();
    // The step to the dataset is fetched before the pointer moves. A damaged step does not hold up the dataset.
    const [newest] = await Promise.allSettled(publications.slice(-1).map(fetchStep));
    steps.write(publications);
    steps.clear(publications);
    if (current !== null) await point(current, isFetched);
    if (newest?.status === "rejected") throw newest.reason;
    for (const generation of comingNext(seen)) await fetch(generation);
    for (const one of publications.toReversed()) if (!isClosed && !isAgain) await fetchStep(one);
    const kept = versionsToKeep(seen);
    const published = seen.list().filter((one) => !isStaged(one));
    const pinned = fetchesPinned ? published.filter((one) => one.pinned_at !== null) : [];
    for (const { version } of pinned) kept.add(version);
    cache.prune(kept, Date.now());
    // Pins may have changed. `point` notes the current dataset's pin.
    for (const one of published)
      if (one.version !== current?.version && cache.has(one)) cache.noteFacts(one);
    for (const one of pinned.toReversed()) if (!isClosed && !isAgain) await fetch(one);
  }

  async function workOnce(of: Kept): Promise<void> {
    retryAt = Infinity;
    try {
      await work(of);
      retryMilliseconds = firstRetryMilliseconds;
      note("fetching", null);
    } catch (error) {
      if (error === superseded) return;
      retryAt = now() + retryMilliseconds;
      retryMilliseconds = Math.min(2 * retryMilliseconds, lastRetryMilliseconds);
      note("fetching", error as Error);
    }
  }

  function start(): void {
    if (isClosed || state === null) return;
    if (working !== null) {
      isAgain = true;
      return;
    }
    working = workOnce(state).finally(() => {
      working = null;
      if (isAgain) {
        isAgain = false;
        start();
      }
    });
  }

  function onLook(seen: Kept | Error): void {
    if (seen instanceof Error) return note("looking", seen);
    note("looking", null);
    onSeen(seen.currentVersion());
    if (seen === state) {
      if (now() >= retryAt) start();
      return;
    }
    state = seen;
    retryMilliseconds = firstRetryMilliseconds;
    // A fetch that is no longer wanted would keep the wanted dataset waiting.
    const wanted = seen.current();
    if (fetching !== null && wanted !== null && fetching.version !== wanted.version)
      if (!cache.has(wanted)) fetching.abort.abort(superseded);
    start();
  }

  const endWatch = store.watch(onLook);
  return {
    /** Checks the file of a version that could not be loaded, and fetches it again if it is damaged. */
    mend(version: string): void {
      damaged.add(version);
      start();
    },
    /** Resolves once no work is under way. */
    async settled(): Promise<void> {
      while (working !== null) await working;
    },
    async close(): Promise<void> {
      isClosed = true;
      endWatch();
      fetching?.abort.abort(superseded);
      await working;
    },
  };
}

const superseded = new Error("Another dataset is wanted now.");
