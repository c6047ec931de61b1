/** What the server checks keys with: what the store holds at the time of the request. */
import { Problem } from "#problems.ts";
import type { KeyRow, KeySource } from "#store/control-watch.ts";
import { digestBytes, readKey } from "./api-key.ts";
import { keysByDigest, type KnownKey, type LiveKey } from "./live-key.ts";

interface KeyVerifier {
  /**
   * @param presented the value of `x-api-key` as it came.
   * @throws Problem `api-key-invalid`, `api-key-expired`, `api-key-revoked`, or `access-denied` for a suspended
   *   account, or `unavailable` for one that cannot be looked up now; the rules are docs/errors.md. It may be a rejection
   *   where the result is a promise.
   */
  verify(presented: string): LiveKey | Promise<LiveKey>;
  close(): void | Promise<void>;
}

interface KeyVerifierOptions {
  /** Closed with the verifier. */
  keys: KnownKeys;
  /** Milliseconds since 1970. */
  now?: () => number;
  /** Where whoever sends a key that has ended is told to go. */
  accountUrl?: string | null;
}

export function openKeyVerifier({
  keys,
  now = Date.now,
  accountUrl = null,
}: KeyVerifierOptions): KeyVerifier {
  const recent = openRecentDigests();
  let isFresh = false;
  const forget = () => {
    isFresh = false;
  };

  // Asking SQLite costs some 2 µs, so it is asked once in a turn of the event loop: a socket that becomes readable
  // after a revocation was committed is read in a later poll, and so after the flag was reset. Only bytes that
  // arrive within the very turn that has asked already, behind others on the same socket, may still find the key.
  const refreshOnceInATurn = () => {
    if (isFresh) return;
    isFresh = true;
    setImmediate(forget);
    keys.refresh();
  };

  const admit = (known: KnownKey | undefined, presented: string, digest: string): LiveKey => {
    if (known === undefined) throw invalid("unknown");
    refuseEnded(known, now(), accountUrl);
    recent.add(presented, digest);
    return known.key;
  };

  return {
    verify(presented) {
      const digest = recent.find(presented) ?? digestOf(presented);
      refreshOnceInATurn();
      // A look-up by digest tells, by its time, at most about the digest of the sender's own guess, which leads to
      // no key; a comparison in constant time after it would protect nothing more.
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
    "The key has not the shape of one: gpr_ and 36 letters and digits, 40 characters in all.",
  checksum: "The key holds a typing error: its last 6 characters do not fit the others.",
  // With a … as the refusals of known keys have one: V8 writes a text that has it out more slowly, which could be timed.
  unknown: "This service never issued this key (gpr_…).",
};

const invalid = (reason: keyof typeof invalidDetails) =>
  new Problem("api-key-invalid", invalidDetails[reason], { reason });

function refuseEnded(
  { key, revokedAt, expiresAt, expiresAtMilliseconds, isSuspended }: KnownKey,
  now: number,
  accountUrl: string | null,
): void {
  if (revokedAt !== null)
    throw new Problem("api-key-revoked", `The key ${key.hint}… was revoked at ${revokedAt}.`, {
      key_hint: key.hint,
      revoked_at: revokedAt,
      account_url: accountUrl,
    });
  if (expiresAt !== null && now >= expiresAtMilliseconds)
    throw new Problem("api-key-expired", `The key ${key.hint}… expired at ${expiresAt}.`, {
      key_hint: key.hint,
      expired_at: expiresAt,
      account_url: accountUrl,
    });
  if (isSuspended)
    throw new Problem(
      "access-denied",
      "The account of this key is suspended. Ask the operator of the service.",
      {
        reason: "account_suspended",
      },
    );
}

/** Digests of the keys accepted within the last second: to compute one costs more than all else that is asked of a key. */
interface RecentDigests {
  find(key: string): string | undefined;
  add(key: string, digest: string): void;
}

/**
 * No longer than the text of a request stays in memory by itself until it is collected: whoever can read the memory
 * of the process finds no more keys for it.
 */
const keptMilliseconds = 1000;
const keptMax = 1000;

export function openRecentDigests(): RecentDigests {
  const digests = new Map<string, string>();
  return {
    find: (key) => digests.get(key),
    add(key, digest) {
      if (digests.size === 0) setTimeout(() => digests.clear(), keptMilliseconds).unref();
      if (digests.size < keptMax) digests.set(key, digest);
    },
  };
}

/** All keys in memory, by digest: those of a file below, of a database in shared-keys.ts. */
export interface KnownKeys {
  /**
   * @param digest as `readKey` gives it.
   * @throws Problem `unavailable` where nobody can tell now; it is a rejection where the result is a promise.
   */
  find(digest: string): KnownKey | undefined | Promise<KnownKey | undefined>;
  /** Asks the store whether it changed, where asking takes no time. */
  refresh(): void;
  close(): void | Promise<void>;
}

/** Of an embedded store, which has every answer at once. */
interface EmbeddedKeys extends KnownKeys {
  find(digest: string): KnownKey | undefined;
}

interface EmbeddedKeysOptions {
  /** Closed with the keys. */
  source: KeySource;
  /** Told once when the store can no longer be read (the keys last read stay in force), and null when it can. */
  onFault: (fault: Error | null) => void;
}

/** Read in one turn of the event loop: some 2 ms. */
const rowsInATurn = 250;

/**
 * After a change elsewhere each key is looked up by itself until all are read again.
 * @throws DomainError if the store cannot be read.
 */
export function openKnownKeys({ source, onFault }: EmbeddedKeysOptions): EmbeddedKeys {
  let versionSeen = source.version();
  let versionRead: unknown;
  let keys = new Map<string, KnownKey>();
  let nextPart: NodeJS.Immediate | undefined;
  let isFaulty = false;

  const setFault = (fault: Error | null) => {
    if ((fault !== null) !== isFaulty) onFault(fault);
    isFaulty = fault !== null;
  };
  const stopReading = () => clearImmediate(nextPart);
  // Whatever was half read is given up; the next request begins anew.
  const giveUp = (error: unknown) => {
    stopReading();
    versionSeen = undefined;
    setFault(error as Error);
  };
  const attempt = (read: () => void) => {
    try {
      read();
    } catch (error) {
      giveUp(error);
    }
  };

  // A change committed between two parts may be in neither; the version tells, and all are read once more.
  const readPart = (fresh: Map<string, KnownKey>, after: string, max: number) => {
    const part = source.list(after, max);
    for (const [digest, key] of keysByDigest(part)) fresh.set(digest, key);
    if (part.length === max)
      nextPart = setImmediate(() => attempt(() => readPart(fresh, part.at(-1)!.id, max)));
    else if (source.version() === versionSeen) {
      keys = fresh;
      versionRead = versionSeen;
    } else readAnew();
  };
  const readAnew = () => {
    stopReading();
    versionSeen = source.version();
    if (versionSeen !== versionRead) readPart(new Map(), "", rowsInATurn);
  };

  /** Kept, so that a revocation once seen is not forgotten should the store become unreadable now. */
  const keep = (digest: string, row: KeyRow | undefined) => {
    if (row === undefined) keys.delete(digest);
    else for (const [found, key] of keysByDigest([row])) keys.set(found, key);
    setFault(null);
    return keys.get(digest);
  };

  readPart(new Map(), "", Number.MAX_SAFE_INTEGER);
  return {
    find(digest) {
      if (versionRead === versionSeen || isFaulty) return keys.get(digest);
      try {
        return keep(digest, source.find(digestBytes(digest)));
      } catch (error) {
        giveUp(error);
        return keys.get(digest);
      }
    },
    refresh: () =>
      attempt(() => {
        if (source.version() !== versionSeen) readAnew();
        setFault(null);
      }),
    close() {
      stopReading();
      source.close();
    },
  };
}
