/** What a server has of PostgreSQL, loaded only where DATABASE_URL names one: its keys, and what each thread takes to connect. */
import { openSharedKeys } from "#keys/shared-keys.ts";
import { makeGateMemory, makePoolMemory, openGate, readPool } from "#store/postgres.ts";
import { connectKeys } from "#store/watch-postgres.ts";

/** @throws DomainError where it cannot be used. */
export async function openDatabase(url: string, onFault: (fault: Error | null) => void) {
  const [gateMemory, poolMemory] = [makeGateMemory(), makePoolMemory()];
  const place = { url, gate: openGate(gateMemory) };
  const connect = (onChange: () => void) => connectKeys(place, onChange);
  return {
    place,
    /** What other threads take to connect. */
    forThreads: { url, gateMemory, poolMemory },
    keys: await openSharedKeys({ connect, onFault }),
    /** Of the account pages. */
    poolUse: () => readPool(poolMemory),
  };
}
