/** The keys of a run: one for each thing that can be said of a key. */
import { createAccount, suspendAccount } from "#accounts/accounts.ts";
import { makeKey } from "#keys/api-key.ts";
import { issueKey, revokeKey } from "#keys/keys.ts";
import { quotaMax, type Quotas } from "#limits/policy.ts";
import { openControl } from "#store/stores.ts";

/** Several accounts, for one may send no more than a million requests a day. */
export const validRoles = ["valid-a", "valid-b", "valid-c", "valid-d"] as const;
export const roles = [
  ...validRoles,
  /** With the quotas every account has at first, so it is soon over them. */
  "small",
  "expired",
  "revoked",
  "suspended",
  /** Well formed, and nobody's. */
  "unknown",
  /** The last character is another one. */
  "checksum",
  /** One character short. */
  "short",
] as const;
export type Role = (typeof roles)[number];

export interface Secrets {
  of(role: string): string | undefined;
  /** Every whole key, for looking whether one comes back. */
  all: readonly string[];
}

const ample = { minute: quotaMax, hour: quotaMax, day: quotaMax };

/** Makes the accounts and keys in a data folder that no server has opened yet. */
export async function issueSecrets(dataDir: string, now: number): Promise<Secrets> {
  const control = await openControl(dataDir);
  const issue = async (role: Role, quotas: Partial<Quotas>, expiresAt: number | null = null) => {
    const account = await createAccount(control, { name: role, quotas, now });
    const issued = await issueKey(control, { account, name: role, expiresAt, now });
    return { accountId: account.id, ...issued };
  };
  const keys = new Map<string, string>();
  try {
    for (const role of validRoles) keys.set(role, (await issue(role, ample)).key);
    keys.set("small", (await issue("small", {})).key);
    keys.set("expired", (await issue("expired", ample, now - 1000)).key);
    const revoked = await issue("revoked", ample);
    keys.set("revoked", revoked.key);
    await revokeKey(control, revoked.id, now);
    const suspended = await issue("suspended", ample);
    keys.set("suspended", suspended.key);
    await suspendAccount(control, suspended.accountId, now);
  } finally {
    await control.close();
  }
  const unknown = makeKey();
  keys.set("unknown", unknown);
  keys.set("checksum", unknown.slice(0, -1) + (unknown.endsWith("0") ? "1" : "0"));
  keys.set("short", makeKey().slice(0, -1));
  return { of: (role) => keys.get(role), all: [...keys.values()] };
}
