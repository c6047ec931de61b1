/**
 * Keeps all keys of a database in memory. A key that was read is found at once, even while the database is unreachable.
 */
import { unavailable } from "#problems.ts";
import type { KeyRow } from "#store/control-watch.ts";
import type { SharedKeySource } from "#store/watch-postgres.ts";
import { digestBytes } from "./api-key.ts";
import { type KnownKeys, keysByDigest, type KnownKey } from "./key-verifier.ts";

interface SharedKeysOptions {
  /**
   * Connects, at the start and after each lost connection. Rejects if that fails, or if it is too soon to retry.
   * @param onChange called when keys change.
   */
  connect(onChange: () => void): Promise<SharedKeySource>;
  /**
   * Called with the fault when the store can no longer be read, and with null when it can be read again. The keys last
   * read stay in force.
   */
  onFault: (fault: Error | null) => void;
}

/** Time between two checks for changes whose notification was lost, in ms. */
const pollMilliseconds = 1000;
/** Number of rows read by one query, which takes about 10 ms of a turn of the event loop. */
const rowsInAPart = 1000;
/**
 * Maximum number of unknown keys looked up at once, so that wrong keys cost the store one query of this size at a time.
 */
const lookupsMax = 64;

/**
 * Reads all keys, and follows their changes.
 * @throws DomainError if the store cannot be read now: a server that knows no keys need not start.
 */
export async function openSharedKeys({ connect, onFault }: SharedKeysOptions): Promise<KnownKeys> {
  let keys = new Map<string, KnownKey>();
  /** Keys read so far while all keys are being read; null otherwise. */
  let reading: Map<string, KnownKey> | null = null;
  /** Count of changes that `keys` reflects; -1 if all keys must be read. */
  let seen = -1;
  let isChanged = true;
  let isFaulty = false;
  let isStarted = false;
  let isClosed = false;
  /** Digests being looked up, each with the promise of its answer. */
  const lookups = new Map<string, PromiseWithResolvers<KnownKey | undefined>>();
  /** Work in progress. There is one connection, which does one thing at a time. */
  let working: Promise<void> | null = null;

  const setFault = (fault: Error | null) => {
    if ((fault !== null) !== isFaulty) onFault(fault);
    isFaulty = fault !== null;
  };
  /** Keeps rows. Rows read later are newer, whichever query read them. */
  const learn = (rows: readonly KeyRow[]) => {
    for (const [digest, key] of keysByDigest(rows)) {
      keys.set(digest, key);
      reading?.set(digest, key);
    }
  };
  const refuseLookups = () => {
    for (const { reject } of lookups.values()) reject(storeDown());
    lookups.clear();
  };

  const lookUp = async (source: SharedKeySource) => {
    if (lookups.size === 0) return;
    const wanted = [...lookups.keys()];
    learn(await source.find(wanted.map(digestBytes)));
    for (const digest of wanted) {
      lookups.get(digest)?.resolve(keys.get(digest));
      lookups.delete(digest);
    }
  };
  const readAll = async (source: SharedKeySource) => {
    reading = new Map();
    for (let after = ""; ;) {
      const part = await source.list(after, rowsInAPart);
      for (const [digest, key] of keysByDigest(part)) reading.set(digest, key);
      if (part.length < rowsInAPart) break;
      after = part.at(-1)!.id;
      // Look-ups do not wait until all keys have been read.
      await lookUp(source);
    }
    keys = reading;
  };
  /** Reads changes. A change committed after the count was read is in the next count. */
  const follow = async (source: SharedKeySource) => {
    isChanged = false;
    const { count, accounts } = await source.changes(seen);
    if (accounts === null) await readAll(source).finally(() => (reading = null));
    else if (accounts.length > 0) learn(await source.ofAccounts(accounts));
    seen = count;
    setFault(null);
  };

  const connectAgain = () =>
    connect(() => {
      isChanged = true;
      if (isStarted) work();
    });
  let source: SharedKeySource | null = await connectAgain();
  const workOnce = async () => {
    try {
      if (source === null || source.isOver) {
        source = null;
        source = await connectAgain();
        // This may be another database, restored or promoted from a standby, with its own count of changes.
        seen = -1;
        isChanged = true;
      }
      while (!isClosed && (lookups.size > 0 || isChanged)) {
        await lookUp(source);
        if (isChanged) await follow(source);
      }
    } catch (error) {
      isChanged = true;
      if (source?.isOver) source = null;
      refuseLookups();
      if (isClosed) return;
      setFault(error as Error);
    }
  };
  /** Begins the work that is due, unless work in progress will do it. */
  const work = () => {
    if (isClosed || working !== null) return;
    working = workOnce().finally(() => {
      working = null;
      if (lookups.size > 0) work();
    });
  };
  try {
    await follow(source);
  } catch (error) {
    source.close();
    throw error;
  }
  isStarted = true;
  const timer = setInterval(() => {
    isChanged = true;
    work();
  }, pollMilliseconds);
  timer.unref();

  return {
    find(digest) {
      const known = keys.get(digest);
      if (known !== undefined) return known;
      if (source === null || source.isOver) {
        work();
        throw storeDown();
      }
      const before = lookups.get(digest);
      if (before !== undefined) return before.promise;
      if (lookups.size >= lookupsMax)
        throw unavailable(
          "overloaded",
          "Too many unknown keys are being looked up at this moment.",
        );
      const lookup = Promise.withResolvers<KnownKey | undefined>();
      lookups.set(digest, lookup);
      work();
      return lookup.promise;
    },
    refresh() {},
    async close() {
      isClosed = true;
      clearInterval(timer);
      source?.close();
      await working;
      source?.close();
      refuseLookups();
    },
  };
}

const storeDown = () =>
  unavailable(
    "store_down",
    "This key cannot be looked up at the moment; keys that were used before go on working.",
    2,
  );
