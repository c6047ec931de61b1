/** Writes down who changed what, in the transaction of the change: an entry without its change cannot be, nor the reverse. */
import type { Transaction } from "kysely";
import type { ControlTables } from "./control-tables.ts";

/** Every action there is an entry for; docs/accounts.md says what each means. */
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
  "plan.set",
  "plan.removed",
  "dataset.published",
  "dataset.rolled_back",
  "dataset.pruned",
  "dataset.pinned",
  "dataset.unpinned",
  "backup.restored",
] as const;

export type AuditAction = (typeof auditActions)[number];

/** Id of a person, `operator` for whoever gives commands, `service` for what happens by itself. */
export type Actor = string;

export const operator: Actor = "operator";
export const service: Actor = "service";

export interface Audited {
  actor: Actor;
  action: AuditAction;
  /** Number of the account it happened in. */
  account?: number | null;
  /** Id or name of what was changed. */
  subject?: string | null;
  /** What else is worth knowing; never an address or a secret, for entries outlive people. */
  detail?: object;
  now: number;
}

export async function writeAudit(
  transaction: Transaction<ControlTables>,
  { actor, action, account = null, subject = null, detail = {}, now }: Audited,
): Promise<void> {
  await transaction
    .insertInto("audit")
    .values({
      number: await nextNumber(transaction),
      at: new Date(now).toISOString(),
      actor,
      account,
      action,
      subject,
      detail: JSON.stringify(detail),
    })
    .execute();
}

/** The transaction holds the write lock, so no other entry can take the same number. */
async function nextNumber(transaction: Transaction<ControlTables>): Promise<number> {
  const query = transaction
    .selectFrom("audit")
    .select((select) => select.fn.max("number").as("highest"));
  return ((await query.executeTakeFirst())?.highest ?? 0) + 1;
}
