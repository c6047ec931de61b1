/**
 * Metrics of the process and its disk: memory, CPU time, open files, disk space, event-loop lag. Metrics that
 * Prometheus client libraries also provide have the names that those libraries use.
 */
import { statfsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { counter, gauge, type Metric } from "./metric.ts";

export function processMetrics(): Metric[] {
  const startSeconds = performance.timeOrigin / 1000;
  return [
    gauge("process_start_time_seconds", "Start of the process, in Unix time", () => startSeconds),
    counter("process_cpu_seconds_total", "Processor time of all threads of the process", () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    }),
    gauge("process_resident_memory_bytes", "Memory of the process in RAM", memory("rss")),
    gauge("process_open_fds", "Number of open files and connections", countOpenFiles),
    gauge("process_max_fds", "Limit on open files and connections", openFilesMax),
    gauge("nodejs_heap_size_total_bytes", "Size of the main thread's heap", memory("heapTotal")),
    gauge("nodejs_heap_size_used_bytes", "Used part of the main thread's heap", memory("heapUsed")),
    gauge("nodejs_external_memory_bytes", "Memory of objects outside the heap", memory("external")),
    gauge(
      "nodejs_array_buffers_bytes",
      "Memory of array buffers, which is part of the external memory",
      memory("arrayBuffers"),
    ),
  ];
}

/**
 * Returns a reading. Returns null if it fails, as on a system other than Linux, or when no more files can be opened.
 */
function readable<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}

/** Returns a function that reads memory use. It returns null if that fails: Linux reports memory through a file. */
const memory = (part: keyof NodeJS.MemoryUsage) => () =>
  readable(() => process.memoryUsage()[part]);

export function diskMetrics(dataDir: string): Metric[] {
  const bytesOf = (blocks: "blocks" | "bavail") => () =>
    readable(() => {
      const stats = statfsSync(dataDir);
      return stats[blocks] * stats.bsize;
    });
  return [
    gauge("gp_records_disk_size_bytes", "Size of the disk that holds DATA_DIR", bytesOf("blocks")),
    gauge(
      "gp_records_disk_free_bytes",
      "Free space for the server on the disk that holds DATA_DIR",
      bytesOf("bavail"),
    ),
  ];
}

const folder = "/proc/self/fd";

/** Returns the number of open files, including sockets, or null if it is unknown. */
const countOpenFiles = (): number | null =>
  // Since Linux 6.2, the folder's size is the number of open files. Listing ten thousand names takes milliseconds.
  readable(() => statSync(folder).size || readdirSync(folder).length);

/** Returns the soft limit on open files. Returns Infinity if there is none, and null if it is unknown. */
export const openFilesMax = (): number | null =>
  readable(() => {
    const [, soft] = /^Max open files +(\S+)/m.exec(readFileSync("/proc/self/limits", "utf8"))!;
    return soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft);
  });

const resolutionMilliseconds = 20;

export function openEventLoopMetrics() {
  const delays = monitorEventLoopDelay({ resolution: resolutionMilliseconds });
  delays.enable();
  // A delay is measured as the time between two samples, which includes the sampling interval.
  const seconds = (nanoseconds: number) =>
    delays.count === 0 ? 0 : Math.max(0, nanoseconds / 1e9 - resolutionMilliseconds / 1e3);
  const since = "of the event loop since the metrics were last read";
  return {
    /** Metrics of the event loop. Reading the last one starts a new measuring period. */
    metrics: [
      gauge("nodejs_eventloop_lag_p99_seconds", `99th percentile of the delay ${since}`, () =>
        seconds(delays.percentile(99)),
      ),
      gauge("nodejs_eventloop_lag_max_seconds", `Longest delay ${since}`, () => {
        const longest = seconds(delays.max);
        delays.reset();
        return longest;
      }),
    ],
    close: () => void delays.disable(),
  };
}
