/** Says by counting one by one what a limiter must answer: slow, and too plain to be wrong. */
import assert from "node:assert/strict";
import type { QuotaStatus } from "#limits/counters.ts";
import { type Quotas, windows } from "#limits/policy.ts";

/** What is to be held against an answer: the times (µs) of all requests of the account admitted before. */
export interface Expectation {
  quotas: Quotas;
  now: number;
  /** When they truly were. */
  truly: readonly number[];
  /** As late as the limiter may believe they were; null if a wall clock set back leaves that open. */
  atTheLatest: readonly number[] | null;
  /** How many the request counts. */
  requests: number;
}

export function assertRight(quotaStatus: QuotaStatus, expected: Expectation): void {
  const { now, truly, atTheLatest, requests } = expected;
  if (quotaStatus.admitted) {
    assert.ok(hasRoom(truly, expected, now), "a window admitted more than its quota");
    assert.equal(quotaStatus.retryAfterSeconds, 0);
    assert.deepEqual(quotaStatus.violated, []);
  } else assertRightRefusal(quotaStatus, expected);
  assert.ok(quotaStatus.windows.every(isWithinItsBounds), "remaining or reset is out of bounds");
  const isExact = atTheLatest?.every((time, index) => time === truly[index]) ?? false;
  const added = quotaStatus.admitted ? Array.from({ length: requests }, () => now) : [];
  if (isExact) assertExact(quotaStatus, [...truly, ...added], expected);
}

function assertRightRefusal(quotaStatus: QuotaStatus, expected: Expectation): void {
  const { now, truly, atTheLatest } = expected;
  const { violated, retryAfterSeconds } = quotaStatus;
  const longest = Math.max(
    ...windows.map(({ name, seconds }) => (violated.includes(name) ? seconds : 0)),
  );
  assert.ok(
    retryAfterSeconds >= 1 && retryAfterSeconds <= longest,
    `Retry-After is ${retryAfterSeconds}`,
  );
  assert.ok(retryAfterSeconds >= secondsUntilAdmitted(truly, expected), "Retry-After is too short");
  if (atTheLatest === null) return;
  assert.ok(!hasRoom(atTheLatest, expected, now), "refused below every quota");
  assert.ok(
    retryAfterSeconds <= secondsUntilAdmitted(atTheLatest, expected),
    "Retry-After is too long",
  );
}

function isWithinItsBounds({
  quota,
  remaining,
  resetSeconds,
  windowSeconds,
}: QuotaStatus["windows"][number]): boolean {
  return remaining >= 0 && remaining <= quota && resetSeconds >= 0 && resetSeconds <= windowSeconds;
}

/** Compares every member of the windows and which of them refuse. */
function assertExact(
  quotaStatus: QuotaStatus,
  times: readonly number[],
  { quotas, now, requests }: Expectation,
): void {
  const expected = windows.map(({ name, seconds }) => {
    const inside = times.filter((time) => now - time < seconds * 1e6);
    const quota = quotas[name];
    return {
      name,
      quota,
      windowSeconds: seconds,
      remaining: Math.max(0, quota - inside.length),
      resetSeconds:
        inside.length === 0 ? 0 : Math.ceil((Math.min(...inside) + seconds * 1e6 - now) / 1e6),
    };
  });
  assert.partialDeepStrictEqual(quotaStatus.windows, expected);
  const full = expected
    .filter((window) => window.remaining < requests)
    .map((window) => window.name);
  if (!quotaStatus.admitted) assert.deepEqual(quotaStatus.violated, full);
}

function hasRoom(
  times: readonly number[],
  { quotas, requests }: Expectation,
  now: number,
): boolean {
  return windows.every(
    ({ name, seconds }) =>
      times.filter((time) => now - time < seconds * 1e6).length + requests <= quotas[name],
  );
}

/** The least whole number of seconds from 1 on after which a request would be admitted, found by trying. */
function secondsUntilAdmitted(times: readonly number[], expected: Expectation): number {
  let refused = 0;
  let admitted = 86_401;
  while (admitted - refused > 1) {
    const middle = Math.floor((refused + admitted) / 2);
    if (hasRoom(times, expected, expected.now + middle * 1e6)) admitted = middle;
    else refused = middle;
  }
  return admitted;
}
