/** A control store of its own, with an account and a key to begin with. */
import type { TestContext } from "node:test";
import { createAccount } from "#accounts/accounts.ts";
import { issueKey, type KeyOrder } from "#keys/keys.ts";
import { type KnownKeys, openKnownKeys, openSharedKeys } from "#keys/key-verifier.ts";
import { watchControl } from "#store/control-watch.ts";
import { controlFile } from "#store/sqlite-file.ts";
import { type ControlStore, openControl } from "#store/stores.ts";
import { connectKeys } from "#store/watch-postgres.ts";
import { type StorePlace, storePlace } from "./for-each-store.ts";

export const noon = Date.parse("2026-11-21T12:00:00.000Z");
export const minute = 60_000;
export const hour = 60 * minute;
export const day = 24 * hour;

/** What a server reads of the keys, on the engine of the place. */
export async function openKeys(
  t: TestContext,
  { dataDir, databaseUrl }: StorePlace,
  onFault: (fault: Error | null) => void = () => {},
): Promise<KnownKeys> {
  const keys =
    databaseUrl === null
      ? openKnownKeys({ source: watchControl(controlFile(dataDir), Date.now), onFault })
      : await openSharedKeys({
          connect: (onChange) => connectKeys(databaseUrl, onChange),
          onFault,
        });
  t.after(() => keys.close());
  return keys;
}

/** Opens the control store of a place for some work. */
export async function useControl<R>(
  place: StorePlace,
  work: (control: ControlStore) => R | Promise<R>,
): Promise<R> {
  const control = await openControl(place.dataDir, place);
  try {
    return await work(control);
  } finally {
    await control.close();
  }
}

/** Opens an empty control store, on the engine of the test. */
export async function openEmptyControl(t: TestContext) {
  const place = await storePlace(t);
  const control = await openControl(place.dataDir, place);
  t.after(() => control.close());
  return { place, dataDir: place.dataDir, control };
}

export async function controlWithAccount(t: TestContext) {
  const { place, dataDir, control } = await openEmptyControl(t);
  const account = await createAccount(control, { name: "Acme", quotas: {}, now: noon });
  const issue = (order: Partial<KeyOrder> = {}) =>
    issueKey(control, { account, name: "first", expiresAt: null, now: noon, ...order });
  return { place, dataDir, path: controlFile(dataDir), control, account, issue };
}
