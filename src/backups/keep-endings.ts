/** Writes what ended after the backup was made into the database that is about to be put in place. */
import type { Transaction } from "kysely";
import { closeRows } from "#accounts/close-account.ts";
import { deleteRows } from "#accounts/delete-person.ts";
import { service, writeAudit } from "#store/audit.ts";
import type { ControlTables } from "#store/control-tables.ts";
import type { ControlFacts } from "./control-facts.ts";
import type { Ending } from "./endings.ts";

interface BothFacts {
  present: ControlFacts;
  backup: ControlFacts;
}

export async function keepEndings(
  transaction: Transaction<ControlTables>,
  endings: readonly Ending[],
  facts: BothFacts,
): Promise<void> {
  for (const ending of endings) await keep(transaction, ending, facts);
}

async function keep(
  transaction: Transaction<ControlTables>,
  { what, id, account, at }: Ending,
  { present, backup }: BothFacts,
): Promise<void> {
  const key = transaction.updateTable("api_key").where("id", "=", id);
  switch (what) {
    case "revoked":
      await key.set({ revoked_at: at }).execute();
      return;
    case "expires":
      await key.set({ expires_at: at }).execute();
      return;
    case "suspended":
      await transaction
        .updateTable("account")
        .set({ suspended_at: at })
        .where("id", "=", id)
        .execute();
      return;
    case "closed":
      await closeRows(transaction, { account: backup.accounts.get(id)!.number, id, at: at! });
      return;
    case "deleted":
      await deleteRows(transaction, id, backup.people.get(id)!.folded);
      await writeAudit(transaction, {
        actor: service,
        action: "person.deleted",
        subject: id,
        // What an earlier backup has to be told, should one be restored after this.
        now: Date.parse(at!),
      });
      return;
    case "password": {
      const { password } = present.people.get(id)!;
      await transaction.updateTable("person").set({ password }).where("id", "=", id).execute();
      return;
    }
    default:
      await endMembership(transaction, { what, person: id, account: account! });
  }
}

async function endMembership(
  transaction: Transaction<ControlTables>,
  { what, person, account }: { what: "removed" | "demoted"; person: string; account: string },
): Promise<void> {
  const { number } = await transaction
    .selectFrom("account")
    .select("number")
    .where("name", "=", account)
    .executeTakeFirstOrThrow();
  if (what === "demoted")
    await transaction
      .updateTable("member")
      .set({ role: "member" })
      .where("account", "=", number)
      .where("person", "=", person)
      .execute();
  else
    await transaction
      .deleteFrom("member")
      .where("account", "=", number)
      .where("person", "=", person)
      .execute();
}
