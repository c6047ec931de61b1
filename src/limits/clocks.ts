/** The clocks behind the limits, injected so that a test can set them. */
import { readFileSync } from "node:fs";

export interface Clock {
  /** Returns whole µs of a clock that never steps. All processes of one boot read the same clock. */
  monotonicMicroseconds(): number;
  /** Returns whole ms since 1970. Steps when the system clock is set. */
  wallMilliseconds(): number;
  /** Id of the machine's current boot. Null if unknown: each run then counts as a boot of its own. */
  readonly bootId: string | null;
}

/**
 * Returns this machine's clocks: CLOCK_MONOTONIC, the wall clock, and Linux's boot id (random(4)). CLOCK_MONOTONIC
 * stands still while the machine sleeps, so a laptop may refuse requests for too long, but never for too short a time.
 */
export function systemClock(): Clock {
  return {
    monotonicMicroseconds() {
      const [seconds, nanoseconds] = process.hrtime();
      return seconds * 1e6 + Math.floor(nanoseconds / 1000);
    },
    wallMilliseconds: Date.now,
    bootId: readBootId(),
  };
}

function readBootId(): string | null {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim() || null;
  } catch {
    return null;
  }
}
