/** Issues keys by the code of a checkout itself, whose store may have another schema than ours. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { quotaMax } from "#limits/policy.ts";

/** So that nobody is refused. */
const quotas = { minute: quotaMax, hour: quotaMax, day: quotaMax };

/**
 * One key each for so many new accounts.
 * @param databaseUrl of a database whose schema is up to date; null for a file of the data folder.
 */
export async function issueKeys(
  root: string,
  dataDir: string,
  count: number,
  databaseUrl: string | null = null,
): Promise<string[]> {
  const { createAccount, issueKey, openControl } = await codeOf(root);
  const control = await openControl(dataDir, { databaseUrl });
  try {
    const keys: string[] = [];
    for (let number = 1; number <= count; number++) {
      const now = Date.now();
      const account = await createAccount(control, { name: `Bench ${number}`, quotas, now });
      keys.push((await issueKey(control, { account, name: "bench", expiresAt: null, now })).key);
    }
    return keys;
  } finally {
    await control.close();
  }
}

/** Keys of the right shape that are refused. */
export async function deadKeys(root: string, dataDir: string) {
  const { listAccounts, issueKey, revokeKey, openControl, makeKey } = await codeOf(root);
  const control = await openControl(dataDir);
  try {
    const account = (await listAccounts(control)).find(({ name }) => name === "Bench 1")!;
    const now = Date.now();
    const order = { account, name: "dead", expiresAt: null, now };
    const revoked = await issueKey(control, order);
    await revokeKey(control, revoked.id, now);
    const expired = await issueKey(control, { ...order, expiresAt: now - 1000 });
    return { revoked: revoked.key, expired: expired.key, unknown: makeKey() };
  } finally {
    await control.close();
  }
}

async function codeOf(root: string) {
  const load = (path: string) => import(pathToFileURL(join(root, "src", path)).href);
  const { createAccount, listAccounts } = (await load(
    "accounts/accounts.ts",
  )) as typeof import("#accounts/accounts.ts");
  const { issueKey, revokeKey } = (await load("keys/keys.ts")) as typeof import("#keys/keys.ts");
  const { makeKey } = (await load("keys/api-key.ts")) as typeof import("#keys/api-key.ts");
  const { openControl } = (await load("store/stores.ts")) as typeof import("#store/stores.ts");
  return { createAccount, listAccounts, issueKey, revokeKey, makeKey, openControl };
}
