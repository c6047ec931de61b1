/** Closes an account for good: its keys are revoked, its members removed and its name freed. Its number and id remain. */
import type { Transaction } from "kysely";
import { type Actor, writeAudit } from "#store/audit.ts";
import type { ControlTables } from "#store/control-tables.ts";
import type { ControlStore } from "#store/stores.ts";
import { requireOpenNumber } from "./find-account.ts";
import { requireOwner } from "./membership.ts";

interface Closing {
  /** Number. */
  account: number;
  actor: Actor;
  now: number;
}

/** @throws DomainError `refused` for whoever is no owner, `conflict` where it is closed already. */
export function closeAccount(control: ControlStore, closing: Closing): Promise<void> {
  return control.write(async (transaction) => {
    await requireOwner(transaction, closing.account, closing.actor);
    await close(transaction, closing);
  });
}

/** Part of a transaction. */
export async function close(
  transaction: Transaction<ControlTables>,
  { account, actor, now }: Closing,
): Promise<void> {
  const { id } = await requireOpenNumber(transaction, account);
  await revokeAll(transaction, { account, actor, now });
  await closeRows(transaction, { account, id, at: new Date(now).toISOString() });
  await writeAudit(transaction, { actor, action: "account.closed", account, subject: id, now });
}

/** Everything but the keys. */
export async function closeRows(
  transaction: Transaction<ControlTables>,
  { account, id, at }: { account: number; id: string; at: string },
): Promise<void> {
  for (const table of ["member", "link", "notice"] as const)
    await transaction.deleteFrom(table).where("account", "=", account).execute();
  await transaction
    .updateTable("account")
    // Nobody can choose an id as a name, so the former name is free and no two closed accounts collide.
    .set({ closed_at: at, name: id, name_folded: id, plan: null })
    .where("number", "=", account)
    .execute();
}

async function revokeAll(
  transaction: Transaction<ControlTables>,
  { account, actor, now }: Closing,
): Promise<void> {
  const revoked = await transaction
    .updateTable("api_key")
    .set({ revoked_at: new Date(now).toISOString() })
    .where("account", "=", account)
    .where("revoked_at", "is", null)
    .returning("id")
    .execute();
  for (const { id: subject } of revoked)
    await writeAudit(transaction, { actor, action: "key.revoked", account, subject, now });
}
