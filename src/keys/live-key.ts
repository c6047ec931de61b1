/** A key as the server keeps it in memory, made from its row in the control store. */
import type { KeyRow } from "#store/control-watch.ts";
import { type Quotas, quotasOf } from "#store/control-tables.ts";
import { digestText } from "./api-key.ts";

/** Rights of a request with a valid key. */
export interface LiveKey {
  readonly id: string;
  /** The first 8 characters of the key. */
  readonly hint: string;
  /** Number that quotas are counted by. */
  readonly accountNumber: number;
  /** Quotas of the account or of its plan; the same object until the store changes. */
  readonly quotas: Quotas;
  /** Does its plan let it read changes? */
  readonly mayReadChanges: boolean;
  /** Is it the key of a demo? Such a key is never accepted through a proxy. */
  readonly isDemo: boolean;
}

/** An issued key, valid or not. */
export interface KnownKey {
  key: LiveKey;
  revokedAt: string | null;
  expiresAt: string | null;
  /** `expiresAt` in ms since 1970; infinite if there is none. */
  expiresAtMilliseconds: number;
  /** Is its account suspended or closed? */
  isSuspended: boolean;
}

/** Returns keys by digest, in the form that `readKey` returns. */
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
