/** Following an invitation: a known person joins the account, an unknown one is made by the same step. */
import type { Kysely, Transaction } from "kysely";
import type { ControlTables } from "#store/control-tables.ts";
import { writeAudit } from "#store/audit.ts";
import type { ControlStore } from "#store/stores.ts";
import { requireOpenNumber } from "./find-account.ts";
import { insertMember } from "./insert-member.ts";
import { type Link, lookAtLink, useLink } from "./links.ts";
import { roleOf } from "./membership.ts";
import { checkPassword } from "./password-rules.ts";
import type { Passwords } from "./passwords.ts";
import { findPerson, insertPerson, type Person } from "./people.ts";
import { type Completion, settle } from "./sign-up.ts";
import { openSession, type SignedIn } from "./signed-in.ts";

/** `signedIn` is null for somebody who has a password: they sign in with it, a link alone is not enough. */
interface Accepted {
  person: Person;
  /** Id of the account. */
  accountId: string;
  signedIn: SignedIn | null;
}

/** Whether whoever follows the link is to choose a password. */
export const isNewPerson = async (
  database: Kysely<ControlTables>,
  { folded }: Link,
): Promise<boolean> => (await findPerson(database, folded)) === undefined;

/**
 * @param completion `password` is looked at only for somebody new, `accountName` only for an account of one's own.
 * @throws LinkFault, or StoreFault `invalid` for the password or the name, `conflict` for an account that was closed
 *   meanwhile, `busy`.
 */
export async function acceptInvitation(
  control: ControlStore,
  passwords: Passwords,
  {
    token,
    password,
    accountName,
    client,
    now,
  }: Omit<Completion, "password"> & {
    password: string | null;
  },
): Promise<Accepted> {
  const { email, folded } = await lookAtLink(control, token, now);
  const known = await findPerson(control.database, folded);
  const hashed = known === undefined ? await hashNew(passwords, password ?? "", email) : null;
  return control.write(async (transaction) => {
    const link = await useLink(transaction, { token, kind: "invite", now });
    if (link.account === null) {
      const settled = await settle(transaction, { link, hashed, accountName, client, now });
      return { person: settled.person, accountId: settled.accountId, signedIn: settled };
    }
    const { number, id: accountId } = await requireOpenNumber(transaction, link.account);
    const present = await findPerson(transaction, folded);
    if (present !== undefined) {
      await join(transaction, link, present.id, now);
      return { person: present, accountId, signedIn: null };
    }
    const address = { email: link.email, folded };
    const person = await insertPerson(transaction, { address, password: hashed, now });
    const entry = { actor: person.id, account: number, subject: person.id, now };
    await writeAudit(transaction, { ...entry, action: "person.signed_up" });
    await join(transaction, link, person.id, now);
    const signedIn = await openSession(transaction, { person, client, account: number, now });
    return { person, accountId, signedIn };
  });
}

async function hashNew(passwords: Passwords, password: string, email: string): Promise<string> {
  checkPassword(password, email);
  return passwords.inTurn((hasher) => hasher.hash(password));
}

/** Whoever has become a member meanwhile stays what they are. */
async function join(
  transaction: Transaction<ControlTables>,
  { account, role }: Link,
  person: string,
  now: number,
): Promise<void> {
  if ((await roleOf(transaction, account!, person)) !== undefined) return;
  await insertMember(transaction, { account: account!, person, role: role ?? "member", now });
}
