/** The counters of one process: exact sliding windows in memory, with a journal that survives a restart. */
import type { Clock } from "./clocks.ts";
import type { QuotaStatus, WindowStatus } from "./counters.ts";
import type { Journal } from "./journal.ts";
import { type Quotas, windows } from "./policy.ts";

/**
 * Opens counters that start with the requests in the journal. Requests are counted even if the journal fails.
 * @param journal closed with the counters; null to forget all requests at the end.
 */
export function openMemoryCounters(clock: Clock, journal: Journal | null = null) {
  const logs = new Map<number, SlidingLog>();
  for (const [account, times] of journal?.past ?? [])
    logs.set(account, openLog(windowMicroseconds, times));
  const forgetOne = forgetter(logs);
  let now = clock.monotonicMicroseconds();

  return {
    take(account: number, quotas: Quotas, requests = 1): QuotaStatus {
      now = Math.max(now, clock.monotonicMicroseconds());
      const log = logs.getOrInsertComputed(account, newLog);
      const admitted = isAdmitted(log, quotas, now, requests);
      if (admitted)
        for (let counted = 0; counted < requests; counted++) {
          append(log, now);
          journal?.append(account, now);
        }
      const status = statusOf(log, quotas, now, admitted, requests);
      forgetOne(now);
      return status;
    },
    look(account: number, quotas: Quotas): QuotaStatus {
      now = Math.max(now, clock.monotonicMicroseconds());
      const log = logs.get(account) ?? newLog();
      return statusOf(log, quotas, now, isAdmitted(log, quotas, now, 1), 1);
    },
    /** Counts a request that was admitted elsewhere, regardless of the quotas. Does not write it to the journal. */
    count(account: number): void {
      now = Math.max(now, clock.monotonicMicroseconds());
      const log = logs.getOrInsertComputed(account, newLog);
      for (let index = 0; index < windows.length; index++) countIn(log, index, now);
      append(log, now);
      forgetOne(now);
    },
    /** Writes the journal. Never throws: a fault goes to the journal's `onFault`, and no response is held back. */
    commit(): void {
      journal?.write();
    },
    close(): void {
      journal?.close();
    },
    /** Returns the number of accounts in memory: those with requests in the last day, and others not yet forgotten. */
    accountCount: () => logs.size,
  };
}

/**
 * Returns a function that shrinks the log of one account in each call, taking the accounts in turn. It forgets an
 * account whose log is empty. This way, no request pays for all accounts.
 */
function forgetter(logs: Map<number, SlidingLog>): (now: number) => void {
  let round = logs.entries();
  return (now) => {
    const next = round.next();
    if (next.done) round = logs.entries();
    else if (!shrink(next.value[1], now)) logs.delete(next.value[0]);
  };
}

/**
 * Requests in sliding windows. Positions only increase; `position & (times.length - 1)` is the slot in `times`.
 * Windows are half-open: a request at `time` is counted while `now - time < window`.
 */
export interface SlidingLog {
  /** Window lengths in µs, shortest first. Requests that leave the last window are forgotten. */
  readonly windows: readonly number[];
  /** Position of the first request in each window. It only moves forward, so a decision is O(1) amortised. */
  readonly firsts: number[];
  end: number;
  /** Circular buffer of times in µs, oldest first. Its length is a power of two. */
  times: Float64Array;
}

const timesAtFirst = 8;

/** Returns a log that starts with these sorted times. @param windows lengths in µs, shortest first. */
export function openLog(windows: readonly number[], times: ArrayLike<number> = []): SlidingLog {
  const slots = new Float64Array(powerOfTwoFrom(times.length));
  slots.set(times);
  return { windows, firsts: windows.map(() => 0), end: times.length, times: slots };
}

/** Moves a window forward to `now`, and returns the number of requests in it. `now` must never decrease. */
export function countIn(log: SlidingLog, window: number, now: number): number {
  const { end, times } = log;
  const length = log.windows[window]!;
  const mask = times.length - 1;
  let first = log.firsts[window]!;
  while (first < end && now - times[first & mask]! >= length) first++;
  log.firsts[window] = first;
  return end - first;
}

/** Counts a request now. `countIn` must have been called for every window with the same `now`. */
export function append(log: SlidingLog, now: number): void {
  const kept = log.end - log.firsts.at(-1)!;
  if (kept === log.times.length) resize(log, kept * 2);
  log.times[log.end & (log.times.length - 1)] = now;
  log.end++;
}

/** Returns the time in µs until a window counts fewer than `quota` requests; 0 if it already does. */
export function waitIn(log: SlidingLog, window: number, quota: number, now: number): number {
  const last = log.end - quota;
  return last < log.firsts[window]! ? 0 : leaves(log, last, window) - now;
}

/** Returns the time in µs until the oldest request of a window leaves it; 0 if there is none. */
export function resetIn(log: SlidingLog, window: number, now: number): number {
  const first = log.firsts[window]!;
  return first === log.end ? 0 : leaves(log, first, window) - now;
}

/** Frees memory left over from a busier time. Returns false if the log no longer counts any requests. */
export function shrink(log: SlidingLog, now: number): boolean {
  const kept = countIn(log, log.windows.length - 1, now);
  // Shrinks at an eighth, not at half, so that a log near a threshold is not copied back and forth.
  if (log.times.length > timesAtFirst && kept < log.times.length / 8)
    resize(log, powerOfTwoFrom(kept * 2));
  return kept > 0;
}

function leaves(log: SlidingLog, position: number, window: number): number {
  return log.times[position & (log.times.length - 1)]! + log.windows[window]!;
}

function resize(log: SlidingLog, length: number): void {
  const start = log.firsts.at(-1)!;
  const times = new Float64Array(length);
  for (let position = start; position < log.end; position++)
    times[position & (length - 1)] = log.times[position & (log.times.length - 1)]!;
  log.times = times;
  // A shorter window may still begin before the times that are kept.
  for (let window = 0; window < log.firsts.length; window++)
    log.firsts[window] = Math.max(start, log.firsts[window]!);
}

function powerOfTwoFrom(count: number): number {
  return Math.max(timesAtFirst, 2 ** Math.ceil(Math.log2(count)));
}

const windowMicroseconds = windows.map((window) => window.seconds * 1e6);

const newLog = () => openLog(windowMicroseconds);

function statusOf(
  log: SlidingLog,
  quotas: Quotas,
  now: number,
  admitted: boolean,
  requests: number,
): QuotaStatus {
  const statusIn = (index: number) => {
    const quota = quotas[windows[index]!.name];
    const waitMicroseconds = admitted ? 0 : waitIn(log, index, quota - requests + 1, now);
    const count = log.end - log.firsts[index]!;
    return windowStatus(index, quota, count, resetIn(log, index, now), waitMicroseconds);
  };
  // Written out instead of mapped, because this runs on every request.
  return quotaStatus(admitted, [statusIn(0), statusIn(1), statusIn(2)]);
}

/** Returns the quota status of a request. @param statuses minute, hour and day, in this order. */
export function quotaStatus(admitted: boolean, statuses: readonly WindowStatus[]): QuotaStatus {
  if (admitted) return { admitted, windows: statuses, violated: [], retryAfterSeconds: 0 };
  const refusing = statuses.filter(({ waitSeconds }) => waitSeconds > 0);
  return {
    admitted,
    windows: statuses,
    violated: refusing.map(({ name }) => name),
    retryAfterSeconds: Math.max(0, ...refusing.map(({ waitSeconds }) => waitSeconds)),
  };
}

/** Reports whether all windows have room. Checks every one, because each must move forward even if another refuses. */
function isAdmitted(log: SlidingLog, quotas: Quotas, now: number, requests: number): boolean {
  let admitted = true;
  for (let index = 0; index < windows.length; index++)
    if (countIn(log, index, now) + requests > quotas[windows[index]!.name]) admitted = false;
  return admitted;
}

/**
 * @param resetMicroseconds time until the oldest request leaves; 0 if there is none.
 * @param waitMicroseconds time until the window alone admits the request; 0 if it does now, or for an admitted request.
 */
export function windowStatus(
  index: number,
  quota: number,
  count: number,
  resetMicroseconds: number,
  waitMicroseconds: number,
): WindowStatus {
  const { name, seconds } = windows[index]!;
  return {
    name,
    quota,
    windowSeconds: seconds,
    // The difference may be negative after an operator has lowered the quota.
    remaining: Math.max(0, quota - count),
    resetSeconds: wholeSeconds(resetMicroseconds),
    waitSeconds: wholeSeconds(waitMicroseconds),
  };
}

const wholeSeconds = (microseconds: number) => Math.ceil(microseconds / 1e6);
