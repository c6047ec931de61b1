/**
 * Limits: counts the requests of every account and decides whether one more is admitted.
 *
 * The counters hold the exact time of every request admitted within the last day, by account. Three windows slide over
 * these times: a minute, an hour and a day. Wrong keys have a separate window for each client network
 * (`keyed-limit.ts`).
 *
 * A request is decided in these steps:
 * 1. `take` drops from each window the requests that have left it.
 * 2. The request is admitted, and counted in all three windows, if all have room. A refused one is counted in none.
 * 3. The caller gets the quota status: what remains, when each window resets and, after a refusal, how long to wait.
 * 4. `commit` makes the count durable. Only then may the transport send the answer.
 *
 * One process counts in memory (`memory-counters.ts`). `commit` writes its journal, which is synced each second and
 * read at the next start. Times of the same boot are exact; others are estimated from both clocks.
 *
 * Several instances count in PostgreSQL or Valkey (`shared-counters.ts`). Each collects requests and sends them in
 * batches, one batch at a time. The server uses its own clock and decides an account's requests one after another, so
 * all instances together admit as much as one alone would.
 *
 * When something is unavailable:
 * - Disk: counting goes on in memory, and up to 65,536 records wait to be written. A restart forgets waiting records.
 * - PostgreSQL or Valkey, in mode `local`: each instance counts by itself, starting from what it has admitted so far.
 *   It reconnects, charges the requests admitted meanwhile, and then shares counts again.
 * - PostgreSQL or Valkey, in mode `deny`: each request is refused with a 503 until the server is back.
 * - PostgreSQL: a crash loses at most the last second, as a power failure does if one process counts alone.
 * - Valkey: each account has its whole quota again if the server comes back empty. The loss is reported.
 */
import type { Quotas, WindowName } from "./policy.ts";

/** One window of an account, right after `take` or `look`. */
export interface WindowStatus {
  readonly name: WindowName;
  readonly quota: number;
  readonly windowSeconds: number;
  /** Number of requests that the window still admits. */
  readonly remaining: number;
  /** Whole seconds, rounded up, until the oldest counted request leaves the window; 0 if it counts none. */
  readonly resetSeconds: number;
  /**
   * Whole seconds, rounded up, until this window alone would admit the refused request; 0 if it would now, or if the
   * request was admitted.
   */
  readonly waitSeconds: number;
}

export interface QuotaStatus {
  readonly admitted: boolean;
  /** Minute, hour and day, in this order. */
  readonly windows: readonly WindowStatus[];
  /** The windows that refuse, shortest first; empty if the request is admitted. */
  readonly violated: readonly WindowName[];
  /** Whole seconds, rounded up, until all windows would admit the request; 0 if it is admitted. */
  readonly retryAfterSeconds: number;
  /** True for a look in an outage: only requests that this instance admitted are counted. Omitted otherwise. */
  readonly isPartial?: true;
}

/** Ways to count: in this process, on a shared server or, during that server's outage, locally or not at all. */
export const countersModes = ["embedded", "shared", "local", "deny"] as const;
export type CountersMode = (typeof countersModes)[number];

export interface Counters {
  /**
   * Counts a request of an account in all windows, or refuses it and counts it in none. The response may be sent only
   * after the next `commit`. Rejects if the request could not be counted; it must then be refused.
   * @param account number of the account in the control store, 1 to 2^32 - 1.
   * @param quotas may differ from call to call.
   * @param requests number of requests that this one counts as, at most `greatestRequest`; by default 1.
   */
  take(account: number, quotas: Quotas, requests?: number): QuotaStatus | Promise<QuotaStatus>;
  /**
   * Returns what `take` would decide now about one request, without counting it. Never fails: in an outage it uses this
   * process's own counts.
   */
  look(account: number, quotas: Quotas): QuotaStatus | Promise<QuotaStatus>;
  /**
   * Saves everything counted before the call. A restart then loses none of it, and a power failure at most the last
   * second. Never throws. Counts are only in memory while the disk fails or in mode `local`.
   */
  commit(): void;
  close(): void | Promise<void>;
}
