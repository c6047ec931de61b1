/**
 * Keeps all keys of a database in memory. A key that was read is found at once, even while the database is unreachable.
 */
import { unavailable } from "#problems.ts";
import type { KeyRow } from "#store/control-watch.ts";
import type { SharedKeySource } from "#store/watch-postgres.ts";
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
 * Reads all keys, and follows their changes. A key that is not known yet waits for the next reading of changes.
 * @throws DomainError if the store cannot be read now: a server that knows no keys need not start.
 */
export async function openSharedKeys({ connect, onFault }: SharedKeysOptions): Promise<KnownKeys> {
  let keys = new Map<string, KnownKey>();
  /** Count of changes that `keys` reflects; -1 if all keys must be read. */
  let seen = -1;
  let isFaulty = false;
  let isClosed = false;
  const started = Promise.withResolvers<void>();
  /** Readings of changes, one after another, because the connection does one thing at a time. */
  let readings: Promise<unknown> = started.promise;
  /** Reading that has not begun yet; null if there is none. */
  let nextReading: Promise<boolean> | null = null;

  const setFault = (fault: Error | null) => {
    if ((fault !== null) !== isFaulty) onFault(fault);
    isFaulty = fault !== null;
  };
  const learn = (known: Map<string, KnownKey>, rows: readonly KeyRow[]) => {
    for (const [digest, key] of keysByDigest(rows)) known.set(digest, key);
  };
  const readAll = async () => {
    const all = new Map<string, KnownKey>();
    let part = await source.list("", rowsInAPart);
    learn(all, part);
    while (part.length === rowsInAPart) {
      part = await source.list(part.at(-1)!.id, rowsInAPart);
      learn(all, part);
    }
    keys = all;
  };
  /** Reads changes. A change committed after the count was read is in the next count. */
  const follow = async () => {
    const { count, accounts } = await source.changes(seen);
    if (accounts === null) await readAll();
    else if (accounts.length > 0) learn(keys, await source.ofAccounts(accounts));
    seen = count;
  };
  /** Reads changes, over a new connection if the last one was lost. Returns false if that fails. */
  const read = async (): Promise<boolean> => {
    nextReading = null;
    if (isClosed) return false;
    try {
      if (source.isOver) {
        source = await connect(() => void look());
        // This may be another database, restored or promoted from a standby, with its own count of changes.
        seen = -1;
      }
      await follow();
      setFault(null);
      return true;
    } catch (error) {
      if (!isClosed) setFault(error as Error);
      return false;
    }
  };
  /** Returns the reading that begins next. It sees everything that has been committed so far. */
  const look = (): Promise<boolean> => {
    if (nextReading === null) readings = nextReading = readings.then(read);
    return nextReading;
  };

  let source = await connect(() => void look());
  try {
    await follow();
  } catch (error) {
    source.close();
    throw error;
  }
  started.resolve();
  const timer = setInterval(() => void look(), pollMilliseconds);
  timer.unref();

  return {
    find(digest) {
      const known = keys.get(digest);
      if (known !== undefined) return known;
      if (source.isOver) throw storeDown();
      return look().then((isRead) => {
        if (!isRead) throw storeDown();
        return keys.get(digest);
      });
    },
    async close() {
      isClosed = true;
      clearInterval(timer);
      source.close();
      await readings;
      // The last reading may have connected again.
      source.close();
    },
  };
}

const storeDown = () =>
  unavailable(
    "store_down",
    "This key cannot be looked up, because the database of the service cannot be read at the moment. Try again in 2 seconds.",
    2,
  );
