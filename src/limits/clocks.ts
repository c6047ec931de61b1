/** The clocks that limits are counted by, injected so that a test can set them. */
import { readFileSync } from "node:fs";

export interface Clock {
  /** Whole µs since the machine started; never steps, and is the same in every process of one boot. */
  monotonicMicroseconds(): number;
  /** Whole ms since 1970; it steps when the system clock is set. */
  wallMilliseconds(): number;
  /** Names the boot `monotonicMicroseconds` counts from; null where unknown; each run then counts as a boot. */
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
