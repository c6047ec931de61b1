/**
 * Checks requests' keys against the current state of the store. Keeps all keys of the store in memory. Asks SQLite for
 * changes at most once in each turn of the event loop; PostgreSQL announces changes.
 */
import { Problem, unavailable } from "#problems.ts";
import { quotasOf } from "#store/control-tables.ts";
import type { KeyRow, KeySource } from "#store/control-watch.ts";
import type { SharedKeySource } from "#store/watch-postgres.ts";
import { readKey } from "./api-key.ts";

interface KeyVerifierOptions {
  /** Keys of the store; closed with the verifier. */
  keys: KnownKeys;
  /** Returns milliseconds since 1970. */
  now?: () => number;
  /** URL of the account pages, shown when an expired or revoked key is refused; null if there are no such pages. */
  accountUrl?: string | null;
}

export function openKeyVerifier({ keys, now = Date.now, accountUrl = null }: KeyVerifierOptions) {
  const recent = openRecentDigests();
  const admit = (known: KnownKey | undefined, presented: string, digest: string): LiveKey => {
    if (known === undefined) throw invalid("unknown");
    refuseEnded(known, now(), accountUrl);
    recent.add(presented, digest);
    return known.key;
  };

  return {
    /**
     * Returns the key that a client presented, or a promise of it that may reject with the problems below.
     * @param presented key as sent.
     * @throws Problem `api-key-invalid`, `api-key-expired` or `api-key-revoked`; `access-denied` if the account is
     *   suspended or closed; `unavailable` if the key cannot be looked up now. docs/errors.md has the rules.
     */
    verify(presented: string): LiveKey | Promise<LiveKey> {
      const digest = recent.find(presented) ?? digestOf(presented);
      // The time of this look-up can reveal something only about the digest of the sender's own guess, which leads to
      // no key. A constant-time comparison afterwards would protect nothing more.
      const known = keys.find(digest);
      return known instanceof Promise
        ? known.then((found) => admit(found, presented, digest))
        : admit(known, presented, digest);
    },
    close: () => keys.close(),
  };
}

function digestOf(presented: string): string {
  const reading = readKey(presented);
  if ("fault" in reading) throw invalid(reading.fault);
  return reading.digest;
}

const invalidDetails = {
  malformed:
    "This is not an API key. A key is gpr_ followed by 36 letters and digits, 40 characters in all. Copy the whole key again, and send it only once.",
  checksum:
    "The key contains a typing error: its last 6 characters do not match the rest. Copy the whole key again.",
  // Contains a …, as the refusals of known keys do: V8 writes text with a … more slowly, which could be timed.
  unknown: "This service never issued this key (gpr_…). Use a key of this service.",
};

const invalid = (reason: keyof typeof invalidDetails) =>
  new Problem("api-key-invalid", invalidDetails[reason], { reason });

function refuseEnded(
  { key, revokedAt, expiresAt, expiresAtMilliseconds, isSuspended }: KnownKey,
  now: number,
  accountUrl: string | null,
): void {
  if (revokedAt !== null)
    throw new Problem(
      "api-key-revoked",
      `The key ${key.hint}… was revoked at ${revokedAt}. Use another key.`,
      { key_hint: key.hint, revoked_at: revokedAt, account_url: accountUrl },
    );
  if (expiresAt !== null && now >= expiresAtMilliseconds)
    throw new Problem(
      "api-key-expired",
      `The key ${key.hint}… expired at ${expiresAt}. Use another key.`,
      { key_hint: key.hint, expired_at: expiresAt, account_url: accountUrl },
    );
  if (isSuspended)
    throw new Problem(
      "access-denied",
      "The account of this key is suspended or closed. Ask the operator of the service.",
      { reason: "account_suspended" },
    );
}

/**
 * Longest time that a key stays in this cache, in ms. The text of a request also stays in memory for about that long,
 * until it is collected. The cache therefore reveals no further keys to someone who reads the process's memory.
 */
const keptMilliseconds = 1000;
const keptMax = 1000;

/**
 * Opens a cache of the digests of keys accepted within the last second, at most 1,000 of them. Computing a digest
 * costs more than all other checks.
 */
export function openRecentDigests() {
  const digests = new Map<string, string>();
  return {
    find: (key: string) => digests.get(key),
    add(key: string, digest: string) {
      if (digests.size === 0) setTimeout(() => digests.clear(), keptMilliseconds).unref();
      if (digests.size < keptMax) digests.set(key, digest);
    },
  };
}

/** All keys of a store, by digest. */
export interface KnownKeys {
  /**
   * Returns the key with this digest. Returns undefined if there is none.
   * @param digest digest of the key, as `readKey` returns it.
   * @throws Problem `unavailable` if the key cannot be looked up now; a promise rejects with it.
   */
  find(digest: string): KnownKey | undefined | Promise<KnownKey | undefined>;
  close(): void | Promise<void>;
}

interface EmbeddedKeysOptions {
  /** Rows of the store; closed with the keys. */
  source: KeySource;
  /**
   * Called with the fault when the store can no longer be read, and with null when it can be read again. The keys last
   * read stay in force.
   */
  onFault: (fault: Error | null) => void;
}

/**
 * Opens the keys of an embedded store. Reads all of them now, and later those of the accounts whose keys have changed.
 * After a change that may concern all keys, such as one to a plan, each key is read again when it is next looked up.
 * @throws DomainError if the store cannot be read.
 */
export function openKnownKeys({ source, onFault }: EmbeddedKeysOptions) {
  /** Count of changes that `keys` reflects. */
  let seen = source.count();
  const keys = keysByDigest(source.all());
  /** Digests of the keys read since the last change that may concern all keys; null if there was no such change. */
  let readSince: Set<string> | null = null;
  /** Digest of a key that could not be read again; null if there is none. */
  let failed: string | null = null;
  let isFresh = false;
  const forget = () => {
    isFresh = false;
  };

  const setFault = onNews(onFault);
  const learn = (digest: string, row: KeyRow | undefined) => {
    if (row === undefined) keys.delete(digest);
    else keys.set(digest, knownKey(row));
    readSince?.add(digest);
  };
  const readAgain = (digest: string) => {
    failed = digest;
    learn(digest, source.find(Buffer.from(digest, "base64")));
    failed = null;
  };
  const follow = () => {
    const count = source.count();
    if (count !== seen) {
      const changes = source.changes(seen);
      if (changes.mayBeAny) readSince = new Set();
      for (const row of changes.keys) learn(row.digest.toBase64(), row);
      seen = count;
    }
    if (failed !== null) readAgain(failed);
  };
  // Asking SQLite takes about 2 µs, so each turn of the event loop asks at most once. A socket that becomes readable
  // after a revocation was committed is read in a later turn, which asks again. The revoked key may still be
  // accepted only if it arrives in a turn that has already asked, behind other bytes on the same socket.
  const followOnceInATurn = () => {
    if (isFresh) return;
    isFresh = true;
    setImmediate(forget);
    try {
      follow();
      setFault(null);
    } catch (error) {
      setFault(error as Error);
    }
  };

  return {
    /** Returns a key as `KnownKeys.find` does, synchronously. */
    find(digest: string): KnownKey | undefined {
      followOnceInATurn();
      if (readSince !== null && keys.has(digest) && !readSince.has(digest))
        try {
          readAgain(digest);
        } catch (error) {
          setFault(error as Error);
        }
      return keys.get(digest);
    },
    close: () => source.close(),
  };
}

interface SharedKeysOptions extends Pick<EmbeddedKeysOptions, "onFault"> {
  /**
   * Connects, at the start and after each lost connection. Rejects if that fails, or if it is too soon to retry.
   * @param onChange called when keys change.
   */
  connect(onChange: () => void): Promise<SharedKeySource>;
}

/** Time between two checks for changes whose notification was lost, in ms. */
const pollMilliseconds = 1000;
/** Number of rows that one query reads. Handling them blocks the event loop for about 10 ms. */
const rowsInAPart = 1000;

/**
 * Opens the keys of a database. Reads all of them now, and their changes later. A key that was read is found at once,
 * even while the database is unreachable. A look-up of an unknown key waits for the next reading of changes.
 * @throws DomainError if the store cannot be read now: a server that knows no keys need not start.
 */
export async function openSharedKeys({ connect, onFault }: SharedKeysOptions): Promise<KnownKeys> {
  let keys = new Map<string, KnownKey>();
  /** Count of changes that `keys` reflects; -1 if all keys must be read. */
  let seen = -1;
  let isClosed = false;
  const started = Promise.withResolvers<void>();
  /** Readings of changes, one after another, because the connection does one thing at a time. */
  let readings: Promise<unknown> = started.promise;
  /** Reading that has not begun yet; null if there is none. */
  let nextReading: Promise<boolean | null> | null = null;

  const setFault = onNews(onFault);
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
  /** Reads changes. A change that is committed after the count is read belongs to the next reading. */
  const follow = async () => {
    const { count, accounts } = await source.changes(seen);
    if (accounts === null) await readAll();
    else if (accounts.length > 0) learn(keys, await source.ofAccounts(accounts));
    seen = count;
  };
  /** Reads changes, over a new connection if the last one was lost. Returns true unless that fails, or after `close`. */
  const read = async (before: unknown): Promise<boolean | null> => {
    nextReading = null;
    if (isClosed || before === false) return null;
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
      // A reading that waits fails too, and returns null. Nobody waits for two failures.
      return nextReading === null ? null : false;
    }
  };
  /** Returns the reading that begins next. It sees everything that has been committed so far. */
  const look = (): Promise<boolean | null> => {
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
        if (isRead !== true) throw storeDown();
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

/** Returns a function that passes on only the first of consecutive faults, and the first null after them. */
function onNews(tell: (fault: Error | null) => void) {
  let isFaulty = false;
  return (fault: Error | null): void => {
    if ((fault !== null) !== isFaulty) tell(fault);
    isFaulty = fault !== null;
  };
}

/** A valid key, with its account's number, quotas and rights. */
export type LiveKey = KnownKey["key"];

/** An issued key, valid or not. */
type KnownKey = ReturnType<typeof knownKey>;

/** Returns the keys of rows by digest, in base64 as `readKey` returns it. */
function keysByDigest(rows: readonly KeyRow[]): Map<string, KnownKey> {
  return new Map(rows.map((row) => [row.digest.toBase64(), knownKey(row)]));
}

const knownKey = (row: KeyRow) => ({
  key: {
    id: row.id,
    /** The first 8 characters of the key. */
    hint: row.hint,
    accountNumber: row.account_number,
    /** Quotas of the account or a plan; null for the service's default. Reading the key again replaces the object. */
    quotas: quotasOf(row),
    /** True unless the account's plan, or else the plan `default`, excludes changes. */
    mayReadChanges: row.changes === 1,
    /** True for the key of a demo, which is never accepted through a proxy. */
    isDemo: row.is_demo === 1,
  },
  revokedAt: row.revoked_at,
  expiresAt: row.expires_at,
  /** `expiresAt` in ms since 1970; `Infinity` if there is none. */
  expiresAtMilliseconds:
    row.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(row.expires_at),
  /** True if the account is suspended or closed. */
  isSuspended: row.suspended_at !== null,
});
