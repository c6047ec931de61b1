/** Detects overload: event-loop lag or memory use above its limit. */
import { totalmem } from "node:os";
import { getHeapStatistics } from "node:v8";
import type { Logger } from "pino";
import type { Config } from "#config.ts";

export const overloadCauses = ["event_loop_delay", "memory"] as const;
export type OverloadCause = (typeof overloadCauses)[number];

export interface OverloadGuard {
  /** Why new work is refused now; null while it is not. Data, and no call: every request reads it. */
  readonly cause: OverloadCause | null;
  /** Measures lag and memory; called every `lookEveryMilliseconds`, later by the event-loop lag. */
  look(): void;
}

interface OverloadBounds {
  /** 0 for no bound. */
  delayMaxMilliseconds: number;
  /** Of the whole process; 0 for no bound. */
  memoryMaxBytes: number;
}

interface OverloadSenses {
  /** Monotonic milliseconds. */
  now(): number;
  memory(): Pick<NodeJS.MemoryUsage, "rss" | "heapUsed">;
  /** Called when work begins to be refused, and with null once none has been refused for a while. */
  onChange(cause: OverloadCause | null): void;
}

export const lookEveryMilliseconds = 250;
/** Overload comes and goes within a second; it is logged as one period. */
const calmMilliseconds = 10_000;
/** V8 aborts the process at the heap limit; a request in progress must still fit below it. */
const heapShareMax = 0.9;

export function openOverloadGuard(
  { delayMaxMilliseconds, memoryMaxBytes }: OverloadBounds,
  { now, memory, onChange }: OverloadSenses,
): OverloadGuard {
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
    cause: null as OverloadCause | null,
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

/** Measures this process, and logs when work is refused. */
export function startOverloadGuard(
  { eventLoopDelayMaxMilliseconds, memoryMaxBytes }: Config,
  log: Logger,
): OverloadGuard & { close(): void } {
  const bounds = {
    delayMaxMilliseconds: eventLoopDelayMaxMilliseconds,
    memoryMaxBytes: memoryMaxBytes ?? memoryMaxByDefault(),
  };
  const guard = openOverloadGuard(bounds, {
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

/** On Linux memory use is read from a file; where no more files can be opened, the last reading is used. */
function openMemorySense(): OverloadSenses["memory"] {
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

/** Nine tenths of what the machine, or the container, has for this process. */
function memoryMaxByDefault(): number {
  // 0 or huge where nothing constrains it.
  const constrained = process.constrainedMemory();
  return Math.floor(0.9 * (constrained > 0 ? Math.min(constrained, totalmem()) : totalmem()));
}
