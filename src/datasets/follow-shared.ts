/** Keeps a server's folder in step with the shared datasets: fetches new ones, and points at the current one. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Publication } from "#records/publication.ts";
import { StoreFault } from "#store/domain-error.ts";
import { comingNext, type DatasetCache, versionsToKeep } from "./dataset-cache.ts";
import { type Generation, isStaged } from "./generation.ts";
import type { SharedStore } from "./postgres.ts";
import { openPublications } from "./publications.ts";
import type { Kept } from "./shared-rows.ts";

interface FollowRequest {
  store: Pick<SharedStore, "look" | "publications" | "open" | "pullStep">;
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

/** Time between looks at the database, in ms. */
const lookEveryMilliseconds = 500;

/**
 * Wait after a first failed fetch, in ms. It doubles with each further failure in a row, and starts over when the
 * datasets change.
 */
const firstRetryMilliseconds = 1000;
const lastRetryMilliseconds = 60_000;

export function followShared(request: FollowRequest) {
  const { store, cache, fetchesPinned, onSeen, onPointed, onFault, now } = request;
  const steps = openPublications(cache.catalogue.folder);
  const closing = new AbortController();
  const { signal } = closing;
  let state: Kept | null = null;
  /** Time of the next attempt to fetch what the folder lacks; Infinity if none is due before the datasets change. */
  let fetchAt = Infinity;
  let retryMilliseconds = firstRetryMilliseconds;
  let lastFault: Error | null = null;
  /** Version of the dataset that is being fetched; null while none is. */
  let fetching: string | null = null;
  /** Breaks off a round of fetches. */
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

  /** Fetches what the folder lacks, the current dataset first. Returns early if the datasets change meanwhile. */
  async function fetchAll(seen: Kept): Promise<void> {
    const current = seen.current();
    const isFetched = current !== null && (await fetch(current));
    const publications = await store.publications();
    // The step to the dataset is fetched before the pointer moves. A damaged step does not hold up the dataset.
    const [newest] = await Promise.allSettled(publications.slice(-1).map(fetchStep));
    steps.write(publications);
    steps.clear(publications);
    if (current !== null) await point(current, isFetched);
    if (newest?.status === "rejected") throw newest.reason;
    const published = seen.list().filter((one) => !isStaged(one));
    const pinned = fetchesPinned ? published.filter((one) => one.pinned_at !== null) : [];
    cache.prune(versionsToKeep(seen).union(new Set(pinned.map(({ version }) => version))));
    // Pins may have changed. `point` notes the current dataset's pin.
    for (const one of published)
      if (one.version !== current?.version && cache.has(one)) cache.noteFacts(one);
    for (const fetchNext of [
      ...comingNext(seen).map((one) => () => fetch(one)),
      ...publications
        .toReversed()
        .filter(lacksStep)
        .map((one) => () => fetchStep(one)),
      ...pinned.toReversed().map((one) => () => fetch(one)),
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
    // A fetch may take minutes, in which the server has to hear which version is wanted.
    const seeing = setInterval(() => void seeAgain().catch(() => {}), lookEveryMilliseconds);
    try {
      await fetchAll(seen);
      retryMilliseconds = firstRetryMilliseconds;
    } catch (error) {
      fetchAt = now() + retryMilliseconds;
      // The next look finds other datasets, and fetches at once.
      if (overtaken.signal.aborted) return;
      retryMilliseconds = Math.min(2 * retryMilliseconds, lastRetryMilliseconds);
      throw error;
    } finally {
      clearInterval(seeing);
    }
  }

  function note(fault: Error | null): void {
    // A failed fetch is not over before the next attempt.
    if (signal.aborted || (fault === null && fetchAt !== Infinity)) return;
    // The message for an unreachable database may differ each time.
    const isOfDatabase = fault instanceof StoreFault && lastFault instanceof StoreFault;
    const isNew = !isOfDatabase && fault?.message !== lastFault?.message;
    lastFault = fault;
    if (isNew) onFault(fault);
  }

  async function follow(): Promise<void> {
    while (!signal.aborted) {
      note(
        await look().then(
          () => null,
          (error: Error) => error,
        ),
      );
      await sleep(lookEveryMilliseconds, null, { signal }).catch(() => {});
    }
  }

  const following = follow();
  return {
    /** Fetches the file of a version again if it is damaged. Call it for one that could not be loaded. */
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
