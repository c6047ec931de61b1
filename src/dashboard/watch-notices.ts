/** Mails account owners when a key is about to expire or a day's quota is nearly used up, once per event. */
import { quotasInForce } from "#accounts/plans.ts";
import { type ListedKey, listKeys } from "#keys/keys.ts";
import type { QuotaStatus } from "#limits/counters.ts";
import type { ControlDatabase, ControlTables } from "#store/control-tables.ts";
import { dayMilliseconds } from "#store/durations.ts";
import type { ControlStore } from "#store/stores.ts";
import { keyExpiresMail, quotaMail } from "./mail-templates.ts";
import type { AccountServices } from "./screen.ts";

/** Days before a key's expiry at which owners are told, the earliest first. */
const expiryDays = [14, 3];

/** Share of a day's quota at which owners are told. */
const nearShare = 0.8;

type Watched = Pick<AccountServices, "control" | "lookAtQuota" | "mailer"> & {
  /** Origin (and path) of links in the mail. */
  base: string;
};

/**
 * Mails the notices that are due, one account after another. Does nothing without a mail server, so that no notice is
 * marked as sent by mistake.
 * @param now milliseconds since 1970. @param isOver signal to stop before the next account.
 */
export async function watchNotices(
  services: Watched,
  now: number,
  isOver: AbortSignal,
): Promise<void> {
  if (services.mailer.isOff) return;
  for (const account of await listOwnedAccounts(services.control.database)) {
    if (isOver.aborted) return;
    await mailExpiries(services, account, now);
    await mailQuota(services, account, now);
  }
}

type OwnedAccount = Awaited<ReturnType<typeof listOwnedAccounts>>[number];

/** Lists accounts by number, each with its owners' addresses. Leaves out closed, suspended and ownerless ones. */
async function listOwnedAccounts(database: ControlDatabase) {
  const rows = await database
    .selectFrom("account")
    .innerJoin("member", "member.account", "account.number")
    .innerJoin("person", "person.id", "member.person")
    .select(["account.number", "account.name", "person.email"])
    .where("member.role", "=", "owner")
    .where("account.closed_at", "is", null)
    .where("account.suspended_at", "is", null)
    .orderBy("account.number")
    .orderBy("person.id")
    .execute();
  return [...Map.groupBy(rows, ({ number }) => number)].map(([number, owners]) => ({
    number,
    name: owners[0]!.name,
    owners: owners.map(({ email }) => email),
  }));
}

async function mailExpiries(services: Watched, account: OwnedAccount, now: number): Promise<void> {
  for (const key of await listKeys(services.control, { accountNumber: account.number, now })) {
    const days = dueNotice(key, now);
    if (days === null) continue;
    const kind = `key-expires-${days}`;
    const notice = { account: account.number, kind, subject: key.id, now };
    const url = `${services.base}/account/keys/${key.id}`;
    if (await noticeOnce(services.control, notice))
      for (const to of account.owners)
        services.mailer.send(keyExpiresMail({ to, accountName: account.name, url }, key));
  }
}

/**
 * Tells owners that a day's quota is nearly used up, and again only after usage has fallen below half of the quota.
 * While counts are not shared, usage seems lower than it is, so a fall is ignored.
 */
async function mailQuota(services: Watched, account: OwnedAccount, now: number): Promise<void> {
  const { control, mailer, base } = services;
  const { windows, isPartial } = await readQuotaStatus(services, account.number);
  const { quota, remaining } = windows.find(({ name }) => name === "day")!;
  const used = quota - remaining;
  const notice = { account: account.number, kind: "quota-near", subject: "day" };
  if (used >= nearShare * quota) {
    if (!(await noticeOnce(control, { ...notice, now }))) return;
    const url = `${base}/account/usage`;
    for (const to of account.owners)
      mailer.send(quotaMail({ to, accountName: account.name, url }, { used, quota }));
  } else if (used < quota / 2 && isPartial !== true) await forgetNotice(control, notice);
}

/** A notice, identified by its account, its kind and its subject, such as a key's id. */
type Notice = Omit<ControlTables["notice"], "at">;

/** Records a notice that is about to be sent. @returns true if it was not recorded yet, and so should be sent. */
async function noticeOnce(
  control: ControlStore,
  { now, ...notice }: Notice & { now: number },
): Promise<boolean> {
  if (await isNoticed(control.database, notice)) return false;
  return control.write(async (transaction) => {
    const { numInsertedOrUpdatedRows = 0n } = await transaction
      .insertInto("notice")
      .values({ ...notice, at: new Date(now).toISOString() })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst();
    return numInsertedOrUpdatedRows > 0n;
  });
}

async function forgetNotice(control: ControlStore, notice: Notice): Promise<void> {
  if (!(await isNoticed(control.database, notice))) return;
  await control.write(async (transaction) => {
    await transaction
      .deleteFrom("notice")
      .where((row) => row.and(notice))
      .execute();
  });
}

/** Reports whether a notice is recorded. This check avoids needless writes, which would block other writers. */
async function isNoticed(database: ControlDatabase, notice: Notice): Promise<boolean> {
  const found = database
    .selectFrom("notice")
    .select("at")
    .where((row) => row.and(notice));
  return (await found.executeTakeFirst()) !== undefined;
}

/**
 * Returns the number in `expiryDays` whose notice is due, the smaller one if both are. Returns null if none is, or if
 * the key has ended, was rotated or never expires. The key's whole lifetime must be longer than that number of days.
 */
export function dueNotice(key: ListedKey, now: number): number | null {
  const { createdAt, expiresAt, revokedAt, replacedBy } = key;
  if (expiresAt === null || revokedAt !== null || replacedBy !== null) return null;
  const left = (Date.parse(expiresAt) - now) / dayMilliseconds;
  const life = (Date.parse(expiresAt) - Date.parse(createdAt)) / dayMilliseconds;
  if (left <= 0) return null;
  return expiryDays.findLast((days) => left <= days && life > days) ?? null;
}

export async function readQuotaStatus(
  { control, lookAtQuota }: Pick<AccountServices, "control" | "lookAtQuota">,
  account: number,
): Promise<QuotaStatus> {
  return lookAtQuota(account, await quotasInForce(control.database, account));
}
