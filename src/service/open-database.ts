/** Opens a server's PostgreSQL: its keys, and the data that each thread needs to connect. Loaded only with DATABASE_URL. */
import { openSharedKeys } from "#keys/shared-keys.ts";
import { makeGateMemory, makePoolMemory, openGate, readPool } from "#store/postgres.ts";
import { connectKeys } from "#store/watch-postgres.ts";

/** @throws DomainError if it cannot be used. */
export async function openDatabase(url: string, onFault: (fault: Error | null) => void) {
  const [gateMemory, poolMemory] = [makeGateMemory(), makePoolMemory()];
  const place = { url, gate: openGate(gateMemory) };
  const connect = (onChange: () => void) => connectKeys(place, onChange);
  return {
    place,
    /** Data that other threads need to connect. */
    forThreads: { url, gateMemory, poolMemory },
    keys: await openSharedKeys({ connect, onFault }),
    /** Returns the use of the account pages' pool. */
    poolUse: () => readPool(poolMemory),
  };
}
