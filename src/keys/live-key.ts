/** A key as the server keeps it in memory, made from its row in the control store. */
import type { KeyRow } from "#store/control-watch.ts";
import { type Quotas, quotasOf } from "#store/control-tables.ts";
import { digestText } from "./api-key.ts";

/** What a request with a valid key is allowed. */
export interface LiveKey {
  readonly id: string;
  /** The first 8 characters of the key. */
  readonly hint: string;
  /** Quotas are counted by it. */
  readonly accountNumber: number;
  /** The account's own numbers or those of its plan; the same object until the store changes. */
  readonly quotas: Quotas;
  /** Whether its plan lets it read what changed. */
  readonly mayReadChanges: boolean;
  /** A demo's key; never to be accepted from a request that came through a proxy. */
  readonly isDemo: boolean;
}

/** A key that was issued, valid or not. */
export interface KnownKey {
  key: LiveKey;
  revokedAt: string | null;
  expiresAt: string | null;
  /** `expiresAt` in milliseconds since 1970; infinite where there is none. */
  expiresAtMilliseconds: number;
  /** Whether its account is suspended or closed. */
  isSuspended: boolean;
}

/** All keys by their digest, in the form that `readKey` returns. */
export function keysByDigest(rows: readonly KeyRow[]): Map<string, KnownKey> {
  return new Map(rows.map((row) => [digestText(row.digest), knownKey(row)]));
}

function knownKey(row: KeyRow): KnownKey {
  return {
    key: {
      id: row.id,
      hint: row.hint,
      accountNumber: row.account_number,
      quotas: quotasOf(row),
      mayReadChanges: row.changes === 1,
      isDemo: row.is_demo === 1,
    },
    revokedAt: row.revoked_at,
    expiresAt: row.expires_at,
    expiresAtMilliseconds:
      row.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(row.expires_at),
    isSuspended: row.suspended_at !== null,
  };
}
