import { clock } from "./clock.ts";
import { counters } from "./counters.ts";
import { counts } from "./counts.ts";
import { current } from "./current.ts";
import { dataFolder } from "./data-folder.ts";
import { datasets } from "./datasets.ts";
import { database } from "./database.ts";
import { disk } from "./disk.ts";
import { fileSystem } from "./file-system.ts";
import { leftovers } from "./leftovers.ts";
import { limits } from "./limits.ts";
import { locks } from "./locks.ts";
import { modes } from "./modes.ts";
import { owners } from "./owners.ts";
import { port } from "./port.ts";
import { settings } from "./settings.ts";
import { sharedDatasets } from "./shared-datasets.ts";
import { controlStore, usageStore } from "./stores.ts";
import { versions } from "./versions.ts";
import { webhook } from "./webhook.ts";
import { writers } from "./writers.ts";

/** In the order in which a fault explains those after it. */
export const checks = [
  settings,
  versions,
  dataFolder,
  owners,
  modes,
  fileSystem,
  disk,
  limits,
  clock,
  locks,
  leftovers,
  current,
  datasets,
  controlStore,
  usageStore,
  database,
  sharedDatasets,
  writers,
  counts,
  counters,
  port,
  webhook,
] as const;
