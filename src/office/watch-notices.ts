/** Tells owners of accounts by mail, once each, of keys about to expire and of a day's quota that is nearly used. */
import { forgetNotices, isNoticed, type Notice, noticeOnce } from "#accounts/notices.ts";
import { listOwnedAccounts, type OwnedAccount } from "#accounts/owned-accounts.ts";
import { listKeys, type ListedKey } from "#keys/keys.ts";
import { dueNotice, isQuotaNear, quotaKind } from "./due-notices.ts";
import { keyExpiresLetter, quotaLetter } from "./mail/letters.ts";
import { readGauges } from "./standing.ts";
import type { Rooms } from "./visit.ts";

type Watched = Pick<Rooms, "control" | "desk" | "post"> & {
  /** Origin (and path) of links in letters. */
  base: string;
};

/**
 * One round; where no mail leaves it does nothing, and whatever is due waits.
 * @param now milliseconds since 1970. @param isOver ends it before the next account.
 */
export async function watchNotices(
  rooms: Watched,
  now: number,
  isOver: AbortSignal,
): Promise<void> {
  if (rooms.post.isOff) return;
  for (const account of await listOwnedAccounts(rooms.control.database)) {
    if (isOver.aborted) return;
    await tellExpiries(rooms, account, now);
    await tellQuota(rooms, account, now);
  }
}

async function tellExpiries(rooms: Watched, account: OwnedAccount, now: number): Promise<void> {
  for (const key of await listKeys(rooms.control, { accountNumber: account.number, now })) {
    const due = dueNotice(key, now);
    if (due === null) continue;
    const notice = { account: account.number, kind: due.kind, subject: key.id };
    if (await isFirst(rooms, notice, now))
      for (const to of account.owners) rooms.post.send(letterOf(rooms, account, key, to));
  }
}

const letterOf = ({ base }: Watched, account: OwnedAccount, key: ListedKey, to: string) =>
  keyExpiresLetter({
    to,
    accountName: account.name,
    keyName: key.name,
    hint: key.hint,
    expiresAt: key.expiresAt!,
    url: `${base}/account/keys/${key.id}`,
  });

/** Told once, and again only after less than half of the quota was used for a while. */
async function tellQuota(rooms: Watched, account: OwnedAccount, now: number): Promise<void> {
  const { control, post, base } = rooms;
  const gauges = await readGauges(rooms, account.number);
  const { used, quota } = gauges.find(({ name }) => name === "day")!;
  const notice = { account: account.number, kind: quotaKind, subject: "day" };
  if (isQuotaNear({ used, quota })) {
    if (!(await isFirst(rooms, notice, now))) return;
    const url = `${base}/account/usage`;
    for (const to of account.owners)
      post.send(quotaLetter({ to, accountName: account.name, used, quota, url }));
  } else if (used < quota / 2 && (await isNoticed(control.database, notice)))
    await control.write((transaction) => forgetNotices(transaction, notice));
}

/** Looks before it writes: a transaction for whatever was told already would keep others from theirs. */
async function isFirst({ control }: Watched, notice: Notice, now: number): Promise<boolean> {
  if (await isNoticed(control.database, notice)) return false;
  return control.write((transaction) => noticeOnce(transaction, { ...notice, now }));
}
