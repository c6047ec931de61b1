/** Invitations: links that make their holder a member of an account, or give them an account of their own. */
import { type Actor, operator, writeAudit } from "#store/audit.ts";
import type { ControlDatabase, ControlTransaction, Role } from "#store/control-tables.ts";
import { DomainError } from "#store/domain-error.ts";
import type { ControlStore } from "#store/stores.ts";
import { requireOpenNumber } from "./accounts.ts";
import { insertMember, requireOwner, roleOf } from "./members.ts";
import { type Link, lookAtLink, type MadeLink, makeLink, useLink } from "./one-time-links.ts";
import { hashNew, type Passwords } from "./passwords.ts";
import { readAddress, findPerson, insertPerson, refuseTaken } from "./people.ts";
import { openSession } from "./sessions.ts";
import { type Completion, settle } from "./sign-up.ts";

interface InvitationOrder {
  /** Number of the account; null for an account of the person's own, to which only the operator may invite. */
  account: number | null;
  address: string;
  role: Role;
  actor: Actor;
  now: number;
}

/**
 * Makes an invitation.
 * @throws DomainError `invalid` if the text is not an address, `refused` if the actor is not an owner, `conflict` if
 *   the address belongs to a member of the account or, for an account of one's own, to anybody who has signed up.
 */
export async function invite(
  control: ControlStore,
  { account, address: text, role, actor, now }: InvitationOrder,
): Promise<MadeLink & { accountName: string | null }> {
  const address = readAddress(text);
  return control.write(async (transaction) => {
    const accountName =
      account === null
        ? await mayInviteToOwn(transaction, actor, address.folded)
        : await mayInvite(transaction, account, actor, address.folded);
    const made = await makeLink(transaction, { kind: "invite", address, account, role, now });
    const entry = { actor, account, subject: made.id, detail: { role }, now };
    await writeAudit(transaction, "member.invited", entry);
    return { ...made, accountName };
  });
}

async function mayInviteToOwn(
  transaction: ControlTransaction,
  actor: Actor,
  folded: string,
): Promise<null> {
  if (actor !== operator)
    throw new DomainError("refused", "Only the operator invites people to accounts of their own.");
  await refuseTaken(transaction, folded);
  return null;
}

async function mayInvite(
  transaction: ControlTransaction,
  account: number,
  actor: Actor,
  folded: string,
): Promise<string> {
  await requireOwner(transaction, account, actor);
  const { name } = await requireOpenNumber(transaction, account);
  const person = await findPerson(transaction, folded);
  if (person !== undefined && (await roleOf(transaction, account, person.id)) !== undefined)
    throw new DomainError("conflict", `${person.email} is already a member of the account.`);
  return name;
}

/** Lists an account's invitations that have neither been used nor expired, oldest first. */
export async function listInvitations(database: ControlDatabase, account: number, now: number) {
  const rows = await database
    .selectFrom("link")
    .select(["id", "email", "role", "created_at as createdAt", "expires_at as expiresAt"])
    .where("kind", "=", "invite")
    .where("account", "=", account)
    .where("used_at", "is", null)
    .where("expires_at", ">", new Date(now).toISOString())
    .orderBy("created_at")
    .orderBy("id")
    .execute();
  return rows.map(({ role, ...rest }) => ({ ...rest, role: role ?? "member" }));
}

/** Withdraws an invitation. @throws DomainError `refused`, or `not_found` if it has already been used or withdrawn. */
export async function withdrawInvitation(
  control: ControlStore,
  { account, id, actor, now }: { account: number; id: string; actor: Actor; now: number },
): Promise<void> {
  await control.write(async (transaction) => {
    await requireOwner(transaction, account, actor);
    const { numDeletedRows } = await transaction
      .deleteFrom("link")
      .where("id", "=", id)
      .where("kind", "=", "invite")
      .where("account", "=", account)
      .where("used_at", "is", null)
      .executeTakeFirst();
    if (numDeletedRows === 0n)
      throw new DomainError("not_found", "This invitation no longer exists.");
    const entry = { actor, account, subject: id, now };
    await writeAudit(transaction, "member.invitation_withdrawn", entry);
  });
}

/**
 * Makes a link's holder a member of its account, or gives them an account of their own. Returns null as `signedIn` if
 * the person has signed up before: they must sign in with their password.
 * @param completion `password` is used only for a new person, `accountName` only for an account of their own.
 * @throws LinkFault, or DomainError `invalid` for the password or the name, `conflict` if the link is for an account of
 *   their own but they have signed up meanwhile, or `busy`.
 */
export async function acceptInvitation(
  control: ControlStore,
  passwords: Passwords,
  { token, password, accountName, client, now }: Completion,
) {
  const { email, folded } = await lookAtLink(control.database, token, now);
  const known = await findPerson(control.database, folded);
  const hashed = known === undefined ? await hashNew(passwords, password, email) : null;
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
    await writeAudit(transaction, "person.signed_up", entry);
    await join(transaction, link, person.id, now);
    const signedIn = await openSession(transaction, { person, client, account: number, now });
    return { person, accountId, signedIn };
  });
}

/** Makes a person a member. A person who is already a member keeps their role. */
async function join(
  transaction: ControlTransaction,
  { account, role }: Link,
  person: string,
  now: number,
): Promise<void> {
  if ((await roleOf(transaction, account!, person)) !== undefined) return;
  await insertMember(transaction, { account: account!, person, role: role ?? "member", now });
}
