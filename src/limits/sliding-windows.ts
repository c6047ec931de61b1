/** Decides a request of one account by exact sliding windows of a minute, an hour and a day at once. */
import type { QuotaStatus, WindowStatus } from "./counters.ts";
import { type Quotas, type WindowName, windows } from "./policy.ts";
import { append, countIn, openLog, resetIn, type SlidingLog, waitIn } from "./sliding-log.ts";

const windowMicroseconds = windows.map((window) => window.seconds * 1e6);
const none: readonly never[] = Object.freeze([]);

/** How long a request is remembered. */
export const dayMicroseconds = windowMicroseconds.at(-1)!;

/** The log of one account, starting with these sorted times in µs. */
export function openWindows(times?: ArrayLike<number>): SlidingLog {
  return openLog(windowMicroseconds, times);
}

/** Counts a request at `now` (µs, monotonic) in all windows, or in none. */
export function takeFrom(log: SlidingLog, quotas: Quotas, now: number): QuotaStatus {
  const admitted = isAdmitted(log, quotas, now);
  if (admitted) append(log, now);
  return statusOf(log, quotas, now, admitted);
}

/** What `takeFrom` would decide now, without counting. */
export const lookAt = (log: SlidingLog, quotas: Quotas, now: number): QuotaStatus =>
  statusOf(log, quotas, now, isAdmitted(log, quotas, now));

function statusOf(log: SlidingLog, quotas: Quotas, now: number, admitted: boolean): QuotaStatus {
  // Not mapped, because this runs on every request.
  const statuses = [
    statusIn(log, 0, quotas, now, admitted),
    statusIn(log, 1, quotas, now, admitted),
    statusIn(log, 2, quotas, now, admitted),
  ];
  return admitted
    ? { admitted, windows: statuses, violated: none, retryAfterSeconds: 0 }
    : refusal(statuses);
}

function refusal(statuses: WindowStatus[]): QuotaStatus {
  const violated: WindowName[] = [];
  let retryAfterSeconds = 0;
  for (const { name, waitSeconds } of statuses) {
    if (waitSeconds > 0) violated.push(name);
    retryAfterSeconds = Math.max(retryAfterSeconds, waitSeconds);
  }
  return { admitted: false, windows: statuses, violated, retryAfterSeconds };
}

/** Checks every window, because each has to move forward even where another refuses already. */
function isAdmitted(log: SlidingLog, quotas: Quotas, now: number): boolean {
  let admitted = true;
  for (let index = 0; index < windows.length; index++)
    if (countIn(log, index, now) >= quotas[windows[index]!.name]) admitted = false;
  return admitted;
}

function statusIn(
  log: SlidingLog,
  index: number,
  quotas: Quotas,
  now: number,
  admitted: boolean,
): WindowStatus {
  const { name, seconds } = windows[index]!;
  const quota = quotas[name];
  return {
    name,
    quota,
    windowSeconds: seconds,
    // Would be below zero after an operator has lowered the quota.
    remaining: Math.max(0, quota - (log.end - log.firsts[index]!)),
    resetSeconds: wholeSeconds(resetIn(log, index, now)),
    waitSeconds: admitted ? 0 : wholeSeconds(waitIn(log, index, quota, now)),
  };
}

const wholeSeconds = (microseconds: number) => Math.ceil(microseconds / 1e6);
