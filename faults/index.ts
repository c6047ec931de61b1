/** Every fault that is tried, in the order in which it is told. */
import { countersAway } from "./counters-away.ts";
import type { Fault } from "./fault.ts";
import { flippedBytes } from "./flipped-bytes.ts";
import { fullDisk } from "./full-disk.ts";
import { heldLocks } from "./held-locks.ts";
import { idleConnections } from "./idle-connections.ts";
import { importBesideReads } from "./import-beside-reads.ts";
import { importKilled } from "./import-killed.ts";
import { keysRevokedOnSeveral } from "./keys-revoked-on-several.ts";
import { postgresAway } from "./postgres-away.ts";
import { revokedKeys } from "./revoked-keys.ts";
import { restartedUnderLoad } from "./restarted-under-load.ts";
import { serverKilled } from "./server-killed.ts";
import { serverStopped } from "./server-stopped.ts";
import { strangersBehindProxies, strangersWhoNeverRead } from "./strangers-who-never-read.ts";
import { valuesOfStrangers } from "./values-of-strangers.ts";

export const faults: readonly Fault[] = [
  importKilled,
  serverKilled,
  countersAway,
  postgresAway,
  idleConnections,
  serverStopped,
  restartedUnderLoad,
  fullDisk,
  revokedKeys,
  keysRevokedOnSeveral,
  importBesideReads,
  flippedBytes,
  valuesOfStrangers,
  strangersWhoNeverRead,
  ...strangersBehindProxies,
  heldLocks,
];
