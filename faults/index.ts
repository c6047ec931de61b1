/** Every fault that is tried, in the order in which it is told. */
import type { Fault } from "./fault.ts";
import { flippedBytes } from "./flipped-bytes.ts";
import { fullDisk } from "./full-disk.ts";
import { heldLocks } from "./held-locks.ts";
import { idleConnections } from "./idle-connections.ts";
import { importBesideReads } from "./import-beside-reads.ts";
import { importKilled } from "./import-killed.ts";
import { revokedKeys } from "./revoked-keys.ts";
import { restartedUnderLoad } from "./restarted-under-load.ts";
import { serverKilled } from "./server-killed.ts";
import { serverStopped } from "./server-stopped.ts";
import { valuesOfStrangers } from "./values-of-strangers.ts";

export const faults: readonly Fault[] = [
  importKilled,
  serverKilled,
  idleConnections,
  serverStopped,
  restartedUnderLoad,
  fullDisk,
  revokedKeys,
  importBesideReads,
  flippedBytes,
  valuesOfStrangers,
  heldLocks,
];
