/** Metrics of the process and its disk: memory, CPU time, open files. Names are those of the Prometheus client libraries, if any. */
import { type StatsFs, statfsSync } from "node:fs";
import { counter, gauge, type Metric } from "./metric.ts";
import { countOpenFiles, openFilesMax } from "./open-files.ts";

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
