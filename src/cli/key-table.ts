/** How a list of keys looks, for people and for programs. */
import type { ListedKey } from "#keys/keys.ts";
import type { LastUse } from "#usage/key-use.ts";
import { table, timeText } from "./output.ts";

export const keyJson = (key: ListedKey, lastUse: LastUse | undefined) => ({
  id: key.id,
  account: key.account,
  account_name: key.accountName,
  name: key.name,
  hint: key.hint,
  state: key.state,
  is_demo: key.isDemo,
  made_by: key.madeBy,
  created_at: key.createdAt,
  expires_at: key.expiresAt,
  revoked_at: key.revokedAt,
  replaced_by: key.replacedBy,
  last_used_at: lastUse?.at ?? null,
  last_used_network: lastUse?.network ?? null,
});

/** @param lastUse by key id. */
export function keyTable(
  keys: readonly ListedKey[],
  lastUse: ReadonlyMap<string, LastUse>,
): string {
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
      timeText(lastUse.get(key.id)?.at),
    ]),
  );
}
