/** A control store in a folder of its own, with an account and a key to begin with. */
import type { TestContext } from "node:test";
import { createAccount } from "#accounts/accounts.ts";
import { issueKey, type KeyOrder } from "#keys/keys.ts";
import { controlFile } from "#store/files.ts";
import { openControl } from "#store/stores.ts";
import { temporaryFolder } from "./temporary-folder.ts";

export const noon = Date.parse("2026-11-21T12:00:00.000Z");
export const minute = 60_000;
export const hour = 60 * minute;
export const day = 24 * hour;

export async function controlWithAccount(t: TestContext) {
  const dataDir = temporaryFolder(t);
  const control = await openControl(dataDir);
  t.after(() => control.close());
  const account = await createAccount(control, { name: "Acme", quotas: {}, now: noon });
  const issue = (order: Partial<KeyOrder> = {}) =>
    issueKey(control, { account, name: "first", expiresAt: null, now: noon, ...order });
  return { dataDir, path: controlFile(dataDir), control, account, issue };
}
