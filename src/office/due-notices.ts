/** When something is worth a notice: a key's last days, a day's quota that is nearly used. */
import type { ListedKey } from "#keys/keys.ts";

const dayMilliseconds = 86_400_000;

/** Kinds of notices that a key is about to expire, the earliest first. */
const expiryKinds = [
  { kind: "key-expires-14", days: 14 },
  { kind: "key-expires-3", days: 3 },
] as const;
type ExpiryKind = (typeof expiryKinds)[number];

export const quotaKind = "quota-near";
const nearShare = 0.8;

/**
 * The latest notice that is due, or null. Somebody who makes a key for a few days needs no word of how few they are,
 * and one that was rotated ends because its owner wanted it to.
 */
export function dueNotice(key: ListedKey, now: number): ExpiryKind | null {
  const { createdAt, expiresAt, revokedAt, replacedBy } = key;
  if (expiresAt === null || revokedAt !== null || replacedBy !== null) return null;
  const left = Date.parse(expiresAt) - now;
  const life = Date.parse(expiresAt) - Date.parse(createdAt);
  if (left <= 0) return null;
  return (
    expiryKinds.findLast(
      ({ days }) => left <= days * dayMilliseconds && life > days * dayMilliseconds,
    ) ?? null
  );
}

/** From 80 % on. */
export const isQuotaNear = ({ used, quota }: { used: number; quota: number }): boolean =>
  used >= nearShare * quota;
