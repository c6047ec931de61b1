/** Detects overload: event-loop lag or memory use above a limit. */
import { totalmem } from "node:os";
import { getHeapStatistics } from "node:v8";
import type { Logger } from "pino";
import type { Config } from "#config.ts";

export const overloadCauses = ["event_loop_delay", "memory"] as const;
export type OverloadCause = (typeof overloadCauses)[number];

interface Sense {
  /** Returns monotonic milliseconds. */
  now(): number;
  memory(): Pick<NodeJS.MemoryUsage, "rss" | "heapUsed">;
}

export const lookEveryMilliseconds = 250;
/** Time without overload that ends a period of overload, in ms. Overload that comes and goes is then logged once. */
const calmMilliseconds = 10_000;
/**
 * Maximum share of the heap limit that may be used. V8 aborts the process at that limit, and requests in progress must
 * still fit.
 */
const heapShareMax = 0.9;

/**
 * Starts measuring, and logs the beginning and the end of a period of overload.
 * @param sense clock and memory of this process; tests pass their own.
 */
export function startOverloadGuard(
  { eventLoopDelayMaxMilliseconds: delayMaxMilliseconds, memoryMaxBytes: memoryMax }: Config,
  log: Logger,
  { now, memory }: Sense = { now: () => performance.now(), memory: openMemorySense() },
) {
  const memoryMaxBytes = memoryMax ?? memoryMaxByDefault();
  const heapMaxBytes = getHeapStatistics().heap_size_limit * heapShareMax;
  let lookedAt = now();
  let latenessBefore = 0;
  let overloadedAt: number | null = null;

  const judge = (lateness: number): OverloadCause | null => {
    // One long turn is a pause that is over; two in a row are overload.
    const delay = Math.min(lateness, latenessBefore);
    if (delayMaxMilliseconds > 0 && delay > delayMaxMilliseconds) return "event_loop_delay";
    // 0 turns off both memory checks, including the heap's.
    if (memoryMaxBytes === 0) return null;
    const { rss, heapUsed } = memory();
    return rss > memoryMaxBytes || heapUsed > heapMaxBytes ? "memory" : null;
  };
  const tell = (at: number, cause: OverloadCause | null) => {
    if (cause !== null) {
      if (overloadedAt === null)
        log.warn(
          { cause, delayMaxMilliseconds, memoryMaxBytes },
          "the service is overloaded and refuses requests",
        );
      overloadedAt = at;
    } else if (overloadedAt !== null && at - overloadedAt > calmMilliseconds) {
      overloadedAt = null;
      log.info("the service is no longer overloaded and answers requests again");
    }
  };
  const guard = {
    /**
     * Reason to refuse new work now; null if there is none. A property rather than a function, because every query
     * reads it.
     */
    cause: null as OverloadCause | null,
    close: () => clearInterval(timer),
  };
  /** Measures lag and memory. A late call shows the event-loop lag. */
  const look = () => {
    const at = now();
    const lateness = at - lookedAt - lookEveryMilliseconds;
    guard.cause = judge(lateness);
    latenessBefore = lateness;
    lookedAt = at;
    tell(at, guard.cause);
  };
  const timer = setInterval(look, lookEveryMilliseconds);
  timer.unref();
  return guard;
}

/**
 * Returns a function that measures memory. It repeats the last value if no more files can be opened, because Linux
 * reports the resident memory through a file.
 */
function openMemorySense(): Sense["memory"] {
  let rss = 0;
  return () => {
    try {
      rss = process.memoryUsage.rss();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    }
    return { rss, heapUsed: getHeapStatistics().used_heap_size };
  };
}

/** Returns nine tenths of the machine's memory, or of the container's limit if that is lower, in bytes. */
function memoryMaxByDefault(): number {
  // The value is 0 or huge if there is no constraint.
  const constrained = process.constrainedMemory();
  return Math.floor(0.9 * (constrained > 0 ? Math.min(constrained, totalmem()) : totalmem()));
}
