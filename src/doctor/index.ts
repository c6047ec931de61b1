import { datasets } from "./datasets.ts";
import { dataFolder, disk, fileSystem, modes } from "./folder.ts";
import { counters, database, port, settings } from "./settings.ts";
import { controlStore, restoreLeftovers, usageStore } from "./stores.ts";

/** All checks. Their order lets a fault explain later faults. */
export const checks = [
  settings,
  dataFolder,
  modes,
  fileSystem,
  disk,
  restoreLeftovers,
  controlStore,
  usageStore,
  database,
  counters,
  datasets,
  port,
] as const;
