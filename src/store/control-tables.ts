/** The tables of `control.sqlite`: who may use the service. Times are ISO 8601 text in UTC. */

export interface AccountTable {
  /** What the quota is counted by; accounts are suspended, never deleted, so a number is never given twice. */
  number: number;
  id: string;
  name: string;
  /** The name in lower case; two accounts may not share it. */
  name_folded: string;
  /** Requests; null stands for the service's default. */
  per_minute: number | null;
  per_hour: number | null;
  per_day: number | null;
  suspended_at: string | null;
  created_at: string;
}

export interface ApiKeyTable {
  id: string;
  /** SHA-256 of the whole key, 32 bytes. The key itself is stored nowhere. */
  digest: Uint8Array;
  account: number;
  name: string;
  /** The first 8 characters of the key. */
  hint: string;
  /** 1 for the key a demo prints; it may be used from this machine only. */
  is_demo: number;
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
  /** Id of the key that a rotation made in its place. */
  replaced_by: string | null;
}

export interface ControlTables {
  account: AccountTable;
  api_key: ApiKeyTable;
}

/** Requests an account may make; null stands for the service's default. */
export interface Quotas {
  readonly minute: number | null;
  readonly hour: number | null;
  readonly day: number | null;
}

export function quotasOf(row: Pick<AccountTable, "per_minute" | "per_hour" | "per_day">): Quotas {
  return { minute: row.per_minute, hour: row.per_hour, day: row.per_day };
}
