/**
 * The audit log of who changed what. An entry is written in the transaction of its change, so that neither exists
 * without the other. Lists entries, and removes old ones.
 */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { ControlDatabase, ControlTransaction } from "./control-tables.ts";
import { dayMilliseconds } from "./durations.ts";
import type { ControlStore } from "./stores.ts";

/** All recorded actions. docs/accounts.md explains each. */
export const auditActions = [
  "account.created",
  "account.renamed",
  "account.limits_changed",
  "account.plan_changed",
  "account.suspended",
  "account.resumed",
  "account.closed",
  "key.created",
  "key.renamed",
  "key.rotated",
  "key.revoked",
  "key.foreign",
  "member.invited",
  "member.invitation_withdrawn",
  "member.joined",
  "member.role_changed",
  "member.removed",
  "member.left",
  "person.sign_up_asked",
  "person.signed_up",
  "person.signed_in",
  "person.sign_in_failed",
  "person.signed_out",
  "person.session_ended",
  "person.password_changed",
  "person.reset_asked",
  "person.password_reset",
  "person.address_change_asked",
  "person.address_changed",
  "person.exported",
  "person.deleted",
  "view.followed",
  "view.unfollowed",
  "plan.set",
  "plan.removed",
  "dataset.published",
  "dataset.rolled_back",
  "dataset.pruned",
  "dataset.pinned",
  "dataset.unpinned",
  "suppression.added",
  "suppression.removed",
  "audit.pruned",
  "backup.restored",
] as const;

export type AuditAction = (typeof auditActions)[number];

/** Id of a person, `operator` for a command, or `service` if nobody is signed in or the action is automatic. */
export type Actor = string;

export const operator: Actor = "operator";
export const service: Actor = "service";

interface Audited {
  actor: Actor;
  /** Number of the account concerned; null if none is. */
  account?: number | null;
  /** Id or name of the changed object; null if there is none. */
  subject?: string | null;
  /** Further details, without addresses or secrets, because entries outlive people. */
  detail?: object;
  now: number;
}

export async function writeAudit(
  transaction: ControlTransaction,
  action: AuditAction,
  { actor, account = null, subject = null, detail = {}, now }: Audited,
): Promise<void> {
  await transaction
    .insertInto("audit")
    .values(({ selectFrom }) => ({
      // The transaction holds the write lock, so no other entry can take the same number.
      number: selectFrom("audit").select(({ eb, fn, lit }) =>
        eb(fn.coalesce(fn.max("number"), lit(0)), "+", lit(1)).as("number"),
      ),
      at: new Date(now).toISOString(),
      actor,
      account,
      action,
      subject,
      detail: JSON.stringify(detail),
    }))
    .execute();
}

/** Action whose entries are kept forever. They tell which people to delete again after an older backup is restored. */
const keptForGood: AuditAction = "person.deleted";
/** Maximum number of entries that a step removes. Small steps do not hold the write lock for long. */
const entriesPerStep = 1000;

/**
 * Removes old entries in steps, except those of `keptForGood`. Each step records in the audit log how many it removed.
 * @param order `days`: days for which entries are kept, at least 1. `signal`: ends the removal after the current step.
 * @returns the number of removed entries.
 * @throws StoreFault as `ControlStore.write` does.
 */
export async function removeOldAudit(
  control: ControlStore,
  { days, now, signal }: { days: number; now: number; signal?: AbortSignal },
): Promise<number> {
  const before = new Date(now - days * dayMilliseconds).toISOString();
  let removed = 0;
  // The search needs no lock. Usually it finds no old entry, and then no writer has to wait.
  while (signal?.aborted !== true && (await oldNumbers(control.database, before, 1)).length > 0) {
    removed += await control.write(async (transaction) => {
      const numbers = await oldNumbers(transaction, before, entriesPerStep);
      if (numbers.length === 0) return 0;
      const detail = { removed: numbers.length, before };
      // This entry is written before the deletion, so that it never gets the number of a removed entry.
      await writeAudit(transaction, "audit.pruned", { actor: service, detail, now });
      await transaction.deleteFrom("audit").where("number", "in", numbers).execute();
      return numbers.length;
    });
    await yieldToEventLoop();
  }
  return removed;
}

/** Returns the numbers of up to `max` removable entries, oldest first. */
async function oldNumbers(
  database: ControlDatabase,
  before: string,
  max: number,
): Promise<number[]> {
  const rows = await database
    .selectFrom("audit")
    .select("number")
    .where("at", "<", before)
    .where("action", "!=", keptForGood)
    .orderBy("number")
    .limit(max)
    .execute();
  return rows.map(({ number }) => number);
}

interface AuditFilter {
  /** Number of the account; undefined for all accounts. */
  account?: number | undefined;
  actor?: string | undefined;
  action?: AuditAction | undefined;
  /** Earliest time, in ms since 1970. */
  since?: number | undefined;
  limit: number;
}

/** Lists up to `limit` audit entries, newest first. An entry's `account` is an id; null if no account is concerned. */
export async function listAudit(
  database: ControlDatabase,
  { account, actor, action, since, limit }: AuditFilter,
) {
  let query = database
    .selectFrom("audit")
    .leftJoin("account", "account.number", "audit.account")
    .select(["audit.number", "audit.at", "audit.actor", "account.id as account"])
    .select(["audit.action", "audit.subject", "audit.detail"])
    .orderBy("audit.number", "desc")
    .limit(limit);
  if (account !== undefined) query = query.where("audit.account", "=", account);
  if (actor !== undefined) query = query.where("audit.actor", "=", actor);
  if (action !== undefined) query = query.where("audit.action", "=", action);
  if (since !== undefined) query = query.where("audit.at", ">=", new Date(since).toISOString());
  const rows = await query.execute();
  return rows.map((row) => ({ ...row, detail: JSON.parse(row.detail) as object }));
}
