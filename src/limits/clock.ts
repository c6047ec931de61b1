/** The clocks the limits are counted by, injected so that a test can turn them. */
import { readFileSync } from "node:fs";

export interface Clock {
  /** Whole µs since the machine started; never steps, and is the same in every process of one boot. */
  monotonicMicroseconds(): number;
  /** Whole ms since 1970; whoever sets the system clock makes it step. */
  wallMilliseconds(): number;
  /** Names the boot `monotonicMicroseconds` counts from; null where unknown, so that each run counts as a boot. */
  readonly bootId: string | null;
}

/**
 * The clocks of this machine: CLOCK_MONOTONIC, which stands still while the machine sleeps (so a laptop refuses a
 * little too long, never too little), and the boot id of Linux (random(4)).
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
