/** Counts the requests of every account and decides whether one more is admitted. */
import type { Quotas, WindowName } from "./policy.ts";

/** The state of one window of an account, after the request that was just decided. */
export interface WindowStatus {
  readonly name: WindowName;
  readonly quota: number;
  readonly windowSeconds: number;
  /** Requests the window still admits. */
  readonly remaining: number;
  /** Whole seconds, rounded up, until the oldest counted request leaves the window; 0 if it counts none. */
  readonly resetSeconds: number;
  /** On a refusal, whole seconds, rounded up, until this window alone would admit a request; 0 if it does now. */
  readonly waitSeconds: number;
}

export interface QuotaStatus {
  readonly admitted: boolean;
  /** Minute, hour, day. */
  readonly windows: readonly WindowStatus[];
  /** The windows that refuse, shortest first; empty if the request is admitted. */
  readonly violated: readonly WindowName[];
  /** Whole seconds, rounded up, until all windows would admit a request; 0 if this one is admitted. */
  readonly retryAfterSeconds: number;
}

export interface Counters {
  /**
   * Counts a request of an account in all windows, or refuses it and counts it in none.
   * `account` is its number in the control store, 1 to 2^32 - 1; `quotas` may differ from call to call.
   * The response is sent only after the next `commit`. A rejection means that it could not be counted, so that it must be
   * refused.
   * @param requests how many it counts, 1 if left out: all of them or none, at one moment. At most `greatestRequest`.
   */
  take(account: number, quotas: Quotas, requests?: number): QuotaStatus | Promise<QuotaStatus>;
  /** What `take` would decide now; counts nothing. It never fails: where counters are away, it says what this process counted. */
  look(account: number, quotas: Quotas): QuotaStatus | Promise<QuotaStatus>;
  /**
   * Once done, the end of the process loses nothing counted before the call; a power failure at most the last second.
   * A rejection means that those counts may be lost, so their requests must be refused.
   */
  commit(): void | Promise<void>;
  close(): void | Promise<void>;
}
