import { datasets } from "./datasets.ts";
import { dataFolder, disk, fileSystem, modes } from "./folder.ts";
import { counters, database, port, settings } from "./settings.ts";
import { controlStore, restoreLeftovers, usageStore } from "./stores.ts";

/** All checks, ordered so that causes are reported before their consequences. */
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
