/** Metrics of the disk on which the data folder is. */
import { type StatsFs, statfsSync } from "node:fs";
import { gauge, type Metric } from "./metric.ts";

export const diskMetrics = (dataDir: string): Metric[] => [
  gauge("gp_records_disk_size_bytes", "Size of the disk of DATA_DIR", () =>
    bytesOf(dataDir, ({ blocks }) => blocks),
  ),
  gauge("gp_records_disk_free_bytes", "What the server may still write on it", () =>
    bytesOf(dataDir, ({ bavail }) => bavail),
  ),
];

/** Null where it cannot be known. */
function bytesOf(dataDir: string, blocksOf: (stats: StatsFs) => number): number | null {
  try {
    const stats = statfsSync(dataDir);
    return blocksOf(stats) * stats.bsize;
  } catch {
    return null;
  }
}
