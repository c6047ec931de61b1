/** Keeps a server's folder in sync with the shared datasets: a worker fetches them, and points at the current one. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type { Publication } from "#records/publication.ts";
import { StoreFault } from "#store/store-fault.ts";
import {
  comingNext,
  type DatasetCache,
  type Kept,
  openCache,
  pinnedIn,
  versionsToKeep,
} from "./dataset-cache.ts";
import type { Generation } from "./generation.ts";
import type { SharedStore } from "./postgres.ts";
import { openPublications } from "./publications.ts";

export interface FollowOrder {
  /** URL of the database (DATABASE_URL). */
  url: string;
  folder: string;
  /** True to fetch pinned datasets too. */
  fetchesPinned: boolean;
  /** Version of the program. */
  program: string;
  /** Id of this run of the server. */
  id: string;
}

/** Message from the server: the version it serves (null if none), one that it could not load, or a request to close. */
export type ToFollower = { served: string | null } | { mend: string } | "close";

/** Message to the server: the version to serve (null if none), a change in the folder, or a fault (null once over). */
export type FromFollower = { wanted: string | null } | "pointed" | { fault: Error | null };

/** Callbacks and clock for following the shared datasets. The server and its worker each have their own. */
interface Listener {
  /** Called when the folder points at another dataset, or when the current dataset's facts or file have changed. */
  onPointed: () => void;
  /** Called with each new fault of the database, a fetch or the worker. Called with null once all work again. */
  onFault: (error: Error | null) => void;
  /** Returns monotonic milliseconds. */
  now: () => number;
}

const startAgainMilliseconds = 1000;
const closeMilliseconds = 2000;
/** Grace period before a server counts as behind, in ms. The database is read twice a second. */
const agreedLatelyMilliseconds = 2000;

/**
 * Starts the worker, and restarts it 1 s after it ends, until `close` is called.
 * @throws DatasetFault if the folder has datasets that were not fetched.
 */
export function startFollowing(request: Omit<FollowOrder, "id"> & Listener) {
  const { onPointed, onFault, now, ...order } = request;
  openCache(order.folder);
  const workerData: FollowOrder = { ...order, id: randomUUID() };
  let wanted: string | null | undefined;
  let served: string | null = null;
  let agreedAt = now();
  let isClosing = false;
  /** Message of the worker's last error, so that an equal one is not reported again. */
  let lastError = "";
  let timer: NodeJS.Timeout | undefined;
  let worker!: Worker;
  start();

  function start(): void {
    worker = new Worker(new URL("./follow-shared-worker.ts", import.meta.url), { workerData });
    worker.on("message", hear);
    worker.on("error", report);
    worker.once("exit", () => isClosing || startSoon());
    if (served !== null) tell({ served });
  }

  function startSoon(): void {
    timer = setTimeout(() => {
      try {
        start();
      } catch (error) {
        report(error as Error);
        startSoon();
      }
    }, startAgainMilliseconds);
  }

  function report(error: Error): void {
    if (error.message !== lastError) onFault(error);
    lastError = error.message;
  }

  function hear(message: FromFollower): void {
    if (message === "pointed") return onPointed();
    if ("fault" in message) return onFault(message.fault);
    ({ wanted } = message);
    if (wanted === served) agreedAt = now();
  }

  const tell = (message: ToFollower) => worker.postMessage(message);
  return {
    /**
     * Returns the version that all servers should serve; null if there is none, undefined until the database first
     * answers.
     */
    wanted: () => wanted,
    /**
     * Returns the seconds since this server was last known to serve the wanted version, or since following started if
     * it never served that version. Returns 0 for less than 2 s.
     */
    behindSeconds(): number {
      const behind = now() - agreedAt;
      return behind < agreedLatelyMilliseconds ? 0 : behind / 1000;
    },
    /** Notes that this server has taken over a dataset. */
    noteServed(version: string): void {
      served = version;
      if (wanted === served) agreedAt = now();
      tell({ served });
    },
    /** Reports a version that could not be loaded. Its file may be damaged. */
    mend: (version: string) => tell({ mend: version }),
    /** Ends the worker. Terminates it if it has not ended after 2 s. */
    async close(): Promise<void> {
      isClosing = true;
      clearTimeout(timer);
      const ended = new Promise((resolve) => worker.once("exit", resolve));
      if (worker.threadId === -1) return;
      tell("close");
      const late = setTimeout(() => void worker.terminate(), closeMilliseconds);
      await ended;
      clearTimeout(late);
    },
  };
}

interface FollowRequest extends Pick<FollowOrder, "fetchesPinned">, Listener {
  store: Pick<SharedStore, "look" | "publications" | "open" | "pullStep">;
  cache: DatasetCache;
  /** Called each time the database answers. @param wanted version that all servers should serve; null if none. */
  onSeen: (wanted: string | null) => void;
}

/** Time between looks at the database, in ms. */
const lookEveryMilliseconds = 500;

/**
 * Wait after the first failed fetch, in ms. It doubles with each further failure in a row, up to 60 s, and is reset
 * when the datasets change.
 */
const firstRetryMilliseconds = 1000;
const lastRetryMilliseconds = 60_000;

/** Follows the shared datasets, in the worker. */
export function followShared(request: FollowRequest) {
  const { store, cache, fetchesPinned, onSeen, onPointed, onFault, now } = request;
  const steps = openPublications(cache.catalogue.folder);
  const closing = new AbortController();
  const { signal } = closing;
  let state: Kept | null = null;
  /** Publications in the folder's list; undefined until it is read, before the first write. */
  let listed: readonly Publication[] | undefined;
  /** Time of the next attempt to fetch what the folder lacks; Infinity if none is due before the datasets change. */
  let fetchAt = Infinity;
  let retryMilliseconds = firstRetryMilliseconds;
  let lastFault: Error | null = null;
  /** Version of the dataset that is being fetched; null while none is. */
  let fetching: string | null = null;
  /** Controller that breaks off a round of fetches. */
  let overtaken = new AbortController();
  const breakOff = () => AbortSignal.any([signal, overtaken.signal]);

  /** Fetches a dataset. Returns false if the folder already has its file. */
  async function fetch(generation: Generation): Promise<boolean> {
    if (cache.has(generation)) return false;
    fetching = generation.version;
    await store.open(fetching, breakOff()).finally(() => (fetching = null));
    return true;
  }

  const lacksStep = ({ from, version, step }: Publication) =>
    from !== null && step !== null && steps.openStep(from, version) === null;

  async function fetchStep(publication: Publication): Promise<void> {
    if (!lacksStep(publication)) return;
    const { from, version } = publication;
    await steps.addStep(from!, version, (path) => store.pullStep(path, from!, version, breakOff()));
  }

  /** Points at a dataset if it is still current: a command on this folder may have moved the pointer since. */
  async function point({ version }: Generation, isFetched: boolean): Promise<void> {
    const current = (await store.look()).current();
    if (current?.version !== version) return;
    if (cache.point(current) || isFetched) onPointed();
  }

  /** Fetches what the folder lacks, current dataset first, and prunes the folder. Ends early if the datasets change. */
  async function fetchAll(seen: Kept): Promise<void> {
    const current = seen.current();
    const isFetched = current !== null && (await fetch(current));
    const publications = await store.publications();
    // The step to the dataset is fetched before the pointer moves. A damaged step does not hold up the dataset.
    const [newest] = await Promise.allSettled(publications.slice(-1).map(fetchStep));
    listed ??= await Promise.try(steps.list, "").catch(() => []);
    steps.write(publications);
    // A command on this folder may be storing another step.
    steps.clear(publications, [...listed, ...publications]);
    listed = publications;
    if (current !== null) await point(current, isFetched);
    if (newest?.status === "rejected") throw newest.reason;
    await cache.removeGone(store.look);
    cache.prune(versionsToKeep(seen, fetchesPinned));
    // Pins may have changed. `point` notes the current dataset's pin.
    for (const one of seen.list())
      if (one.version !== current?.version && cache.has(one)) cache.noteFacts(one);
    for (const fetchNext of [
      ...comingNext(seen).map((one) => () => fetch(one)),
      ...publications
        .toReversed()
        .filter(lacksStep)
        .map((one) => () => fetchStep(one)),
      ...(fetchesPinned ? pinnedIn(seen).toReversed() : []).map((one) => () => fetch(one)),
    ]) {
      if (breakOff().aborted || (await store.look()) !== seen) return;
      await fetchNext();
    }
  }

  async function see(): Promise<Kept> {
    const seen = await store.look();
    onSeen(seen.currentVersion());
    return seen;
  }

  async function look(): Promise<void> {
    const seen = await see();
    if (seen !== state) {
      state = seen;
      retryMilliseconds = firstRetryMilliseconds;
      fetchAt = now();
    }
    if (now() < fetchAt) return;
    fetchAt = Infinity;
    overtaken = new AbortController();
    /** Breaks off the round if another dataset has become current, unless it is the one being fetched. */
    const seeAgain = async () => {
      const version = (await see()).currentVersion();
      if (version !== seen.currentVersion() && version !== fetching) overtaken.abort();
    };
    // A fetch may take minutes, and meanwhile the server must learn which version is wanted.
    const seeing = setInterval(() => void seeAgain().catch(() => {}), lookEveryMilliseconds);
    try {
      await fetchAll(seen);
      retryMilliseconds = firstRetryMilliseconds;
    } catch (error) {
      fetchAt = now() + retryMilliseconds;
      // The next look finds other datasets, and fetches at once.
      if (overtaken.signal.aborted) return;
      retryMilliseconds = Math.min(2 * retryMilliseconds, lastRetryMilliseconds);
      // Datasets that are no longer needed may have filled the disk.
      cache.prune(versionsToKeep(seen, fetchesPinned));
      throw error;
    } finally {
      clearInterval(seeing);
    }
  }

  function note(fault: Error | null): void {
    // While a retry is due, a look without an error does not mean that the fetch has succeeded.
    if (signal.aborted || (fault === null && fetchAt !== Infinity)) return;
    // The message for an unreachable database may differ each time.
    const isOfDatabase = fault instanceof StoreFault && lastFault instanceof StoreFault;
    const isNew = !isOfDatabase && fault?.message !== lastFault?.message;
    lastFault = fault;
    if (isNew) onFault(fault);
  }

  async function follow(): Promise<void> {
    while (!signal.aborted) {
      await look().then(() => note(null), note);
      await sleep(lookEveryMilliseconds, null, { signal }).catch(() => {});
    }
  }

  const following = follow();
  return {
    /** Fetches a version's file again if the file is damaged. Call this for a version that could not be loaded. */
    mend(version: string): void {
      cache.removeDamaged(version);
      fetchAt = 0;
    },
    /** Stops following, and breaks off a fetch in progress. */
    close(): Promise<void> {
      closing.abort();
      return following;
    },
  };
}
