/** Records which notices were sent to an account's owners, so that each is sent once, and lists owners' addresses. */
import type { ControlDatabase } from "#store/control-tables.ts";
import type { ControlStore } from "#store/stores.ts";

interface Notice {
  /** Number of the account. */
  account: number;
  kind: string;
  /** Subject of the notice, such as a key's id. */
  subject: string;
}

/** Records a notice that is about to be sent. @returns true if it was not recorded yet, and so should be sent. */
export async function noticeOnce(
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

export async function forgetNotice(control: ControlStore, notice: Notice): Promise<void> {
  const { account, kind, subject } = notice;
  if (!(await isNoticed(control.database, notice))) return;
  await control.write(async (transaction) => {
    const query = transaction.deleteFrom("notice").where("account", "=", account);
    await query.where("kind", "=", kind).where("subject", "=", subject).execute();
  });
}

/** Reports whether a notice is recorded. A needless write, which this check avoids, would block other writers. */
async function isNoticed(
  database: ControlDatabase,
  { account, kind, subject }: Notice,
): Promise<boolean> {
  const query = database.selectFrom("notice").select("at").where("account", "=", account);
  const found = query.where("kind", "=", kind).where("subject", "=", subject);
  return (await found.executeTakeFirst()) !== undefined;
}

/** An account whose owners can be notified. */
export type OwnedAccount = Awaited<ReturnType<typeof listOwnedAccounts>>[number];

/** Lists the accounts that are neither closed nor suspended, by number, with their owners' addresses. */
export async function listOwnedAccounts(database: ControlDatabase) {
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
