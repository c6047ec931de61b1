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

/** A key for each role. */
export interface Keys {
  of(role: string): string | undefined;
}

export interface Secrets extends Keys {
  /** Every whole key, for looking whether one comes back. */
  all: readonly string[];
}

export interface IssuedSecrets extends Secrets {
  /**
   * Keys for what is sent before the fuzz begins. The valid ones belong to accounts of their own: `/mcp` admits only so
   * many messages of an account in a minute, and those of the fuzz must not depend on how soon it follows.
   */
  beforehand: Keys;
}

const ample = { minute: quotaMax, hour: quotaMax, day: quotaMax };

/** Makes the accounts and keys in a data folder that no server has opened yet. */
export async function issueSecrets(dataDir: string, now: number): Promise<IssuedSecrets> {
  const control = await openControl(dataDir);
  const issue = async (name: string, quotas: Partial<Quotas>, expiresAt: number | null = null) => {
    const account = await createAccount(control, { name, quotas, now });
    const issued = await issueKey(control, { account, name, expiresAt, now });
    return { accountId: account.id, ...issued };
  };
  const keys = new Map<string, string>();
  const beforehand = new Map<string, string>();
  try {
    for (const role of validRoles) {
      keys.set(role, (await issue(role, ample)).key);
      beforehand.set(role, (await issue(`${role} beforehand`, ample)).key);
    }
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
  return {
    of: (role) => keys.get(role),
    all: [...keys.values(), ...beforehand.values()],
    beforehand: { of: (role) => beforehand.get(role) ?? keys.get(role) },
  };
}
