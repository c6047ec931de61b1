/** Metrics of the process and its disk: memory, CPU time, open files, event-loop lag. Names are those of the Prometheus client libraries, if any. */
import { type StatsFs, statfsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { counter, gauge, type Metric } from "./metric.ts";

export function processMetrics(): Metric[] {
  const startSeconds = performance.timeOrigin / 1000;
  return [
    gauge("process_start_time_seconds", "When the process started, since 1970", () => startSeconds),
    counter("process_cpu_seconds_total", "Processor time of all threads", () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    }),
    gauge("process_resident_memory_bytes", "Memory of the process", memory("rss")),
    gauge("process_open_fds", "Open files and connections", countOpenFiles),
    gauge("process_max_fds", "Files and connections that may be open", openFilesMax),
    gauge("nodejs_heap_size_total_bytes", "Heap of the main thread", memory("heapTotal")),
    gauge("nodejs_heap_size_used_bytes", "Heap in use", memory("heapUsed")),
    gauge("nodejs_external_memory_bytes", "Memory outside the heap", memory("external")),
    gauge("nodejs_array_buffers_bytes", "Buffers, a part of the external", memory("arrayBuffers")),
  ];
}

/** Reads memory. Returns null if no more files can be opened: Linux reports memory through a file. */
const memory = (part: keyof NodeJS.MemoryUsage) => () => {
  try {
    return process.memoryUsage()[part];
  } catch {
    return null;
  }
};

/** Returns the metrics of the disk with the data folder. */
export const diskMetrics = (dataDir: string): Metric[] => [
  gauge("gp_records_disk_size_bytes", "Size of the disk of DATA_DIR", () =>
    bytesOf(dataDir, ({ blocks }) => blocks),
  ),
  gauge("gp_records_disk_free_bytes", "Space on it that the server may still use", () =>
    bytesOf(dataDir, ({ bavail }) => bavail),
  ),
];

/** Returns a number of bytes, or null if it is unknown. */
function bytesOf(dataDir: string, blocksOf: (stats: StatsFs) => number): number | null {
  try {
    const stats = statfsSync(dataDir);
    return blocksOf(stats) * stats.bsize;
  } catch {
    return null;
  }
}

const folder = "/proc/self/fd";

/** Returns the number of open files, including sockets, or null if it is unknown. */
function countOpenFiles(): number | null {
  try {
    // Since Linux 6.2 the size is the number. Listing ten thousand names takes milliseconds.
    return statSync(folder).size || readdirSync(folder).length;
  } catch {
    return null;
  }
}

/** Returns the soft limit: Infinity if there is none, null if it is unknown. */
export function openFilesMax(): number | null {
  try {
    const [, soft] =
      /^Max open files +(\S+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return null;
  }
}

const resolutionMilliseconds = 20;

export function openEventLoopMetrics() {
  const delays = monitorEventLoopDelay({ resolution: resolutionMilliseconds });
  delays.enable();
  // The measure is the time between two samples, which includes the sampling interval.
  const seconds = (nanoseconds: number) =>
    delays.count === 0 ? 0 : Math.max(0, nanoseconds / 1e9 - resolutionMilliseconds / 1e3);
  const since = "of the event loop since the metrics were last read";
  return {
    /** Metrics. Reading the last one starts a new measuring period. */
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
