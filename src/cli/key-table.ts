/** How a list of keys looks, for people and for programs. */
import type { ListedKey } from "#keys/keys.ts";
import { table, timeText } from "./output.ts";

export const keyJson = (key: ListedKey, lastUsedAt: string | undefined) => ({
  id: key.id,
  account: key.account,
  account_name: key.accountName,
  name: key.name,
  hint: key.hint,
  state: key.state,
  is_demo: key.isDemo,
  created_at: key.createdAt,
  expires_at: key.expiresAt,
  revoked_at: key.revokedAt,
  replaced_by: key.replacedBy,
  last_used_at: lastUsedAt ?? null,
});

/** @param lastUse ISO time by key id. */
export function keyTable(keys: readonly ListedKey[], lastUse: ReadonlyMap<string, string>): string {
  if (keys.length === 0)
    return "No key yet. Make one: gp-records keys create --account NAME --name NAME";
  return table(
    ["id", "account", "name", "key", "state", "expires", "last used"],
    keys.map((key) => [
      key.id,
      key.accountName,
      key.name,
      `${key.hint}…`,
      key.state,
      timeText(key.expiresAt),
      timeText(lastUse.get(key.id)),
    ]),
  );
}
