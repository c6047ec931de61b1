/** Opens the counters that the settings name; what counts for several instances is loaded only where it is used. */
import type { PostgresPlace } from "#store/postgres.ts";
import type { Clock } from "./clocks.ts";
import type { Counters } from "./counters.ts";
import { openMemoryCounters } from "./memory-counters.ts";
import type { ChosenPatience, OutageMode, SharedCounters } from "./shared-counters.ts";

/** Who counts: this process alone, a server for several instances, or what is done while that is away. */
export const countersModes = ["embedded", "shared", "local", "deny"] as const;

interface OpenedCounters {
  counters: Counters;
  mode(): (typeof countersModes)[number];
}

interface CountersOrder {
  dataDir: string;
  /** With the accounts; null where they are in a file of `dataDir`, and then so are the counts. */
  database: PostgresPlace | null;
  /** Of a Valkey or Redis that counts in place of the database. */
  countersUrl: string | null;
  outage: OutageMode;
  patience: ChosenPatience;
  clock: Clock;
  /** As the options of either kind of counters say. */
  onFault: (fault: Error | null) => void;
  /** Called when a Valkey or Redis has lost all counts. */
  onEmptied: () => void;
}

/** @throws StoreFault where the server that counts must be set up first. */
export async function openCounters({
  dataDir,
  database,
  countersUrl,
  onEmptied,
  ...options
}: CountersOrder): Promise<OpenedCounters> {
  if (database === null) {
    const counters = openMemoryCounters({ dir: dataDir, ...options });
    return { counters, mode: () => "embedded" };
  }
  const { openSharedCounters } = await import("./shared-counters.ts");
  const engine =
    countersUrl === null
      ? (await import("./postgres-engine.ts")).openPostgresEngine(database)
      : await (await import("./valkey-engine.ts")).openValkeyEngine(countersUrl, { onEmptied });
  const counters: SharedCounters = await openSharedCounters({ engine, ...options });
  return { counters, mode: counters.mode };
}
