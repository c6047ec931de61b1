/** What the server checks keys with: what the store holds at the time of the request. */
import { Problem } from "#problems.ts";
import { readKey } from "./api-key.ts";
import { type KnownKeysOptions, openKnownKeys } from "./known-keys.ts";
import type { KnownKey, LiveKey } from "./live-key.ts";
import { openRecentDigests } from "./recent-digests.ts";

interface KeyRing {
  /**
   * @param presented the value of `x-api-key` as it came.
   * @throws Problem `api-key-invalid`, `api-key-expired`, `api-key-revoked`, or `access-denied` for a suspended
   *   account; the rules are docs/errors.md.
   */
  verify(presented: string): LiveKey;
  close(): void;
}

interface KeyRingOptions extends Partial<KnownKeysOptions> {
  path: string;
  /** Where whoever sends a key that has ended is told to go. */
  accountUrl?: string | null;
}

/** @throws StoreFault if the store cannot be read. */
export function openKeyRing({
  path,
  now = Date.now,
  onFault = () => {},
  accountUrl = null,
}: KeyRingOptions): KeyRing {
  const keys = openKnownKeys({ path, now, onFault });
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

  return {
    verify(presented) {
      const remembered = recent.find(presented);
      const digest = remembered ?? digestOf(presented);
      refreshOnceInATurn();
      // A look-up by digest tells, by its time, at most about the digest of the sender's own guess, which leads to
      // no key; a comparison in constant time after it would protect nothing more.
      const known = keys.find(digest);
      if (known === undefined) throw invalid("unknown");
      refuseEnded(known, now(), accountUrl);
      if (remembered === undefined) recent.add(presented, digest);
      return known.key;
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
