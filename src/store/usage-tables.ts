/** The tables of `usage.sqlite`: what happened. Times are ISO 8601 text in UTC. */

export interface KeyUseTable {
  /** Id of a key in control; the two stores are separate files, so nothing enforces it. */
  key_id: string;
  last_used_at: string;
}

export interface UsageTables {
  key_use: KeyUseTable;
}
