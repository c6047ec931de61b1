/** Detects overload: event-loop lag or memory use above a limit. */
import { totalmem } from "node:os";
import { getHeapStatistics } from "node:v8";
import type { Logger } from "pino";
import type { Config } from "#config.ts";

export const overloadCauses = ["event_loop_delay", "memory"] as const;
export type OverloadCause = (typeof overloadCauses)[number];

interface OverloadOrder {
  /** Limit on the event-loop lag; 0 for no limit. */
  delayMaxMilliseconds: number;
  /** Limit on the memory of the whole process; 0 for no limit, not even on the heap. */
  memoryMaxBytes: number;
  /** Returns monotonic milliseconds. */
  now(): number;
  memory(): Pick<NodeJS.MemoryUsage, "rss" | "heapUsed">;
  /** Called with the cause when a period of overload begins, and with null when it ends. */
  onChange(cause: OverloadCause | null): void;
}

export const lookEveryMilliseconds = 250;
/**
 * Time without overload that ends a period of overload, in ms. Overload that comes and goes within seconds is logged
 * once.
 */
const calmMilliseconds = 10_000;
/**
 * Maximum share of the heap limit that may be used. V8 aborts the process at that limit, and requests in progress must
 * still fit.
 */
const heapShareMax = 0.9;

export function openOverloadGuard(order: OverloadOrder) {
  const { delayMaxMilliseconds, memoryMaxBytes, now, memory, onChange } = order;
  const heapMaxBytes = getHeapStatistics().heap_size_limit * heapShareMax;
  let lookedAt = now();
  let latenessBefore = 0;
  let overloadedAt: number | null = null;

  const judge = (lateness: number): OverloadCause | null => {
    // One long turn is a pause that is over; two in a row are overload.
    const delay = Math.min(lateness, latenessBefore);
    if (delayMaxMilliseconds > 0 && delay > delayMaxMilliseconds) return "event_loop_delay";
    if (memoryMaxBytes === 0) return null;
    const { rss, heapUsed } = memory();
    return rss > memoryMaxBytes || heapUsed > heapMaxBytes ? "memory" : null;
  };
  const tell = (at: number, cause: OverloadCause | null) => {
    if (cause !== null && overloadedAt === null) onChange(cause);
    if (cause !== null) overloadedAt = at;
    else if (overloadedAt !== null && at - overloadedAt > calmMilliseconds) {
      overloadedAt = null;
      onChange(null);
    }
  };
  const guard = {
    /**
     * Reason to refuse new work now; null if there is none. A property rather than a function, because every query
     * reads it.
     */
    cause: null as OverloadCause | null,
    /** Measures lag and memory. Expects a call every `lookEveryMilliseconds`; a late call shows the event-loop lag. */
    look() {
      const at = now();
      const lateness = at - lookedAt - lookEveryMilliseconds;
      guard.cause = judge(lateness);
      latenessBefore = lateness;
      lookedAt = at;
      tell(at, guard.cause);
    },
  };
  return guard;
}

/** Starts measuring this process, and logs the beginning and the end of a period of overload. */
export function startOverloadGuard(
  { eventLoopDelayMaxMilliseconds, memoryMaxBytes }: Config,
  log: Logger,
) {
  const bounds = {
    delayMaxMilliseconds: eventLoopDelayMaxMilliseconds,
    memoryMaxBytes: memoryMaxBytes ?? memoryMaxByDefault(),
  };
  const guard = openOverloadGuard({
    ...bounds,
    now: () => performance.now(),
    memory: openMemorySense(),
    onChange: (cause) =>
      cause === null
        ? log.info("requests are answered again")
        : log.warn({ cause, ...bounds }, "requests are refused: overloaded"),
  });
  const timer = setInterval(guard.look, lookEveryMilliseconds);
  timer.unref();
  return Object.assign(guard, { close: () => clearInterval(timer) });
}

/**
 * Returns a function that measures memory. Linux reports the resident memory through a file. If no more files can be
 * opened, the function repeats the last value.
 */
function openMemorySense(): OverloadOrder["memory"] {
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

/** Returns nine tenths of the memory, in bytes, that the machine or the container has. */
function memoryMaxByDefault(): number {
  // The value is 0 or huge if there is no constraint.
  const constrained = process.constrainedMemory();
  return Math.floor(0.9 * (constrained > 0 ? Math.min(constrained, totalmem()) : totalmem()));
}
