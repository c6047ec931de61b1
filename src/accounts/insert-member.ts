/** Makes somebody a member of an account, as part of a transaction. */
import type { Transaction } from "kysely";
import { writeAudit } from "#store/audit.ts";
import type { ControlTables, Role } from "#store/control-tables.ts";

export async function insertMember(
  transaction: Transaction<ControlTables>,
  { account, person, role, now }: { account: number; person: string; role: Role; now: number },
): Promise<void> {
  const joined_at = new Date(now).toISOString();
  await transaction.insertInto("member").values({ account, person, role, joined_at }).execute();
  const entry = { actor: person, account, subject: person, detail: { role }, now };
  await writeAudit(transaction, { ...entry, action: "member.joined" });
}
