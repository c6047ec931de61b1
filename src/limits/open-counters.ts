/** Opens the counters that the settings name. Code for several instances is loaded only where it is used. */
import type { PostgresPlace } from "#store/postgres.ts";
import type { Counters } from "./counters.ts";
import { openMemoryCounters } from "./memory-counters.ts";
import type { SharedCountersOptions } from "./shared-counters.ts";

/** Ways to count: this process alone, a server for several instances, or one of two ways while that is away. */
export const countersModes = ["embedded", "shared", "local", "deny"] as const;

interface OpenedCounters {
  counters: Counters;
  mode(): (typeof countersModes)[number];
}

interface CountersOrder extends Omit<SharedCountersOptions, "engine"> {
  dataDir: string;
  /** Database of the accounts; null if they are in a file of `dataDir`, where the counts then are, too. */
  database: PostgresPlace | null;
  /** URL of a Valkey or Redis that counts in place of the database. */
  countersUrl: string | null;
  /** Called when a Valkey or Redis has lost all counts. */
  onEmptied: () => void;
}

/** @throws StoreFault if the server that counts must be set up first. */
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
  const counters = await openSharedCounters({ engine, ...options });
  return { counters, mode: counters.mode };
}
