/** What the server checks keys with: what the store holds at the time of the request. */
import { Problem } from "#problems.ts";
import { readKey } from "./api-key.ts";
import type { KnownKeys } from "./known-keys.ts";
import type { KnownKey, LiveKey } from "./live-key.ts";

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
