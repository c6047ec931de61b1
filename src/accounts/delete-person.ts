/** Deletes a person and everything stored about them; the audit log keeps ids that then identify nobody. */
import type { Transaction } from "kysely";
import { type Actor, writeAudit } from "#store/audit.ts";
import type { ControlTables } from "#store/control-tables.ts";
import type { ControlStore } from "#store/stores.ts";
import { close } from "./accounts.ts";
import { deleteMember, listMembers, listMemberships, type Membership } from "./members.ts";
import { requirePersonRow } from "./people.ts";
import { forgive } from "./throttle.ts";

/**
 * Accounts without another member are closed.
 * @throws DomainError `conflict` for the last owner of an account that has other members, `not_found`.
 */
export function deletePerson(
  control: ControlStore,
  { person, actor, now }: { person: string; actor: Actor; now: number },
): Promise<void> {
  return control.write(async (transaction) => {
    const { email_folded: folded } = await requirePersonRow(transaction, person);
    for (const membership of await listMemberships(transaction, person))
      await quit(transaction, membership, { person, actor, now });
    await deleteRows(transaction, person, folded);
    await writeAudit(transaction, { actor, action: "person.deleted", subject: person, now });
  });
}

async function quit(
  transaction: Transaction<ControlTables>,
  { number: account }: Membership,
  change: { person: string; actor: Actor; now: number },
): Promise<void> {
  const others = (await listMembers(transaction, account)).length - 1;
  await (others === 0
    ? close(transaction, { ...change, account })
    : deleteMember(transaction, { ...change, account, action: "member.left" }));
}

/** Deletes every row with the person or the address in it. */
export async function deleteRows(
  transaction: Transaction<ControlTables>,
  person: string,
  folded: string,
): Promise<void> {
  for (const table of ["session", "known_browser", "member", "link"] as const)
    await transaction.deleteFrom(table).where("person", "=", person).execute();
  await transaction.deleteFrom("link").where("email_folded", "=", folded).execute();
  await forgive(transaction, [
    { kind: "address", of: folded },
    { kind: "person", of: person },
  ]);
  await transaction.deleteFrom("person").where("id", "=", person).execute();
}
