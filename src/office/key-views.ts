/** The keys of an account as its pages show them: what control knows of them, and what usage does. */
import { isLive, type KeyView } from "#pages/account/key-state.ts";
import { findOwnKey, type OwnKeys } from "#keys/own-keys.ts";
import { type ListedKey, listKeys } from "#keys/keys.ts";
import { readLastUse } from "#usage/key-use.ts";
import { readRequestsToday } from "#usage/totals.ts";
import type { AccountVisit } from "./visit.ts";

/** Whose keys they are and who asks. */
export const ownKeys = ({ account, visitor, now }: AccountVisit): OwnKeys => ({
  account,
  person: visitor.person.id,
  now,
});

/** Newest first. */
export async function listOwn({ rooms, account, now }: AccountVisit): Promise<ListedKey[]> {
  const listed = await listKeys(rooms.control, { accountNumber: account.number, now });
  return listed.toReversed();
}

/** Those that are neither revoked nor expired, newest first. */
export const readLiveKeys = async (visit: AccountVisit): Promise<KeyView[]> =>
  withUse(visit, (await listOwn(visit)).filter(isLive));

/** @throws StoreFault `not_found`; that somebody asked for a key of another account is written down. */
export async function readKeyView(
  visit: AccountVisit,
  id: string,
): Promise<KeyView & Pick<ListedKey, "madeBy">> {
  const key = await findOwnKey(visit.rooms.control, { ...ownKeys(visit), id });
  const [view] = await withUse(visit, [key]);
  return { ...view!, madeBy: key.madeBy };
}

/** @param keys a page of them: each is looked up by itself. */
export async function withUse(visit: AccountVisit, keys: readonly ListedKey[]): Promise<KeyView[]> {
  if (keys.length === 0) return [];
  const { rooms, account, now } = visit;
  const ids = keys.map(({ id }) => id);
  const lastUse = await readLastUse(rooms.usage, ids);
  const today = await readRequestsToday(rooms.usage, account.number, now);
  return keys.map((key) => ({
    id: key.id,
    name: key.name,
    hint: key.hint,
    state: key.state,
    createdAt: key.createdAt,
    expiresAt: key.expiresAt,
    revokedAt: key.revokedAt,
    replacedBy: key.replacedBy,
    lastUse: lastUse.get(key.id) ?? null,
    requestsToday: today.get(key.id) ?? 0,
  }));
}
