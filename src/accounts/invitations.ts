/** Invitations: an owner's to join an account, and the operator's to sign up. */
import { listAudit, operator, writeAudit } from "#store/audit.ts";
import type { ControlDatabase, Role } from "#store/control-tables.ts";
import { dayMilliseconds } from "#store/durations.ts";
import { DomainError } from "#store/store-fault.ts";
import type { ControlStore } from "#store/stores.ts";
import { requireOpenNumber } from "./accounts.ts";
import { type Acting, insertMember, requireOwner, roleOf } from "./members.ts";
import {
  linkLifetimeMilliseconds,
  lookAtLink,
  type MadeLink,
  makeLink,
  useLink,
  useUpLinks,
} from "./one-time-links.ts";
import { hashNew, type Passwords } from "./passwords.ts";
import { findPerson, insertPerson, readAddress } from "./people.ts";
import { openSession } from "./sessions.ts";
import type { Client } from "./throttle.ts";

/**
 * Maximum number of invitations that an account may send in 24 hours. Without a limit, anybody could create an account
 * under any name, and use it to mail any number of strangers.
 */
const invitationsADayMax = 50;

/**
 * Makes an invitation to an account.
 * @throws DomainError `invalid` if the text is not an address, `refused` if the actor is not an owner, `conflict` if
 *   the account is closed or the address belongs to one of its members, `too_often` for owners at the limit.
 */
export async function invite(
  control: ControlStore,
  { account, address: text, role, actor, now }: Acting & { address: string; role: Role },
): Promise<MadeLink & { accountName: string }> {
  const address = readAddress(text);
  return control.write(async (transaction) => {
    await requireOwner(transaction, account, actor);
    if (actor !== operator) await refuseTooMany(transaction, { account, actor, now });
    const { name: accountName } = await requireOpenNumber(transaction, account);
    const person = await findPerson(transaction, address.folded);
    if (person !== undefined && (await roleOf(transaction, account, person.id)) !== undefined)
      throw new DomainError("conflict", `${person.email} is already a member of the account.`);
    const made = await makeLink(transaction, { kind: "invite", address, account, role, now });
    const entry = { actor, account, subject: made.id, detail: { role }, now };
    await writeAudit(transaction, "member.invited", entry);
    return { ...made, accountName };
  });
}

async function refuseTooMany(database: ControlDatabase, { account, now }: Acting): Promise<void> {
  const sent = await listAudit(database, {
    account,
    action: "member.invited",
    since: now - dayMilliseconds,
    limit: invitationsADayMax,
  });
  if (sent.length === invitationsADayMax)
    throw new DomainError(
      "too_often",
      `This invitation was not sent: an account may send at most ${invitationsADayMax} invitations in 24 hours. Try again tomorrow.`,
    );
}

/**
 * Makes a sign-up link for the operator to hand out. The link works for 7 days, as an invitation does.
 * @throws DomainError `invalid` if the text is not an address, `conflict` if somebody has signed up with it.
 */
export function inviteToSignUp(
  control: ControlStore,
  { address: text, now }: { address: string; now: number },
): Promise<MadeLink> {
  const address = readAddress(text);
  return control.write(async (transaction) => {
    const person = await findPerson(transaction, address.folded);
    if (person !== undefined)
      throw new DomainError(
        "conflict",
        `${person.email} has already signed up, so no link was made. For a link to choose a new password, run: gp-records accounts reset-link ${person.email}`,
      );
    const lifetimeMilliseconds = linkLifetimeMilliseconds.invite;
    const order = { kind: "sign-up", address, lifetimeMilliseconds, now } as const;
    const made = await makeLink(transaction, order);
    await writeAudit(transaction, "member.invited", { actor: operator, subject: made.id, now });
    return made;
  });
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

/** Withdraws an unused invitation. @throws DomainError `refused` if the actor is not an owner, or `not_found`. */
export async function withdrawInvitation(
  control: ControlStore,
  { account, id, actor, now }: Acting & { id: string },
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
      throw new DomainError(
        "not_found",
        "This invitation has already been used or withdrawn, so nothing was changed. Open Members to see who has joined.",
      );
    const entry = { actor, account, subject: id, now };
    await writeAudit(transaction, "member.invitation_withdrawn", entry);
  });
}

interface Acceptance {
  token: string;
  password: string;
  client: Client;
  now: number;
}

/**
 * Makes an invitation's holder a member of its account. Returns null as `signedIn` if the person has signed up before:
 * they must sign in with their password. Uses up their other links, so that none brings back who is removed later.
 * @param acceptance `password` is used only for a new person.
 * @throws LinkFault, or DomainError `invalid` for the password, `conflict` if the address was just given up, or `busy`.
 */
export async function acceptInvitation(
  control: ControlStore,
  passwords: Passwords,
  { token, password, client, now }: Acceptance,
) {
  const { email, folded } = await lookAtLink(control.database, token, now);
  const known = await findPerson(control.database, folded);
  const hashed = known === undefined ? await hashNew(passwords, password, email) : null;
  return control.write(async (transaction) => {
    const link = await useLink(transaction, { token, kind: "invite", now });
    const { number: account, id: accountId } = await requireOpenNumber(transaction, link.account!);
    const role = link.role ?? "member";
    await useUpLinks(transaction, { kind: "invite", account, email_folded: folded }, now);
    const present = await findPerson(transaction, folded);
    if (present !== undefined) {
      // A person who is already a member keeps their role.
      if ((await roleOf(transaction, account, present.id)) === undefined)
        await insertMember(transaction, { account, person: present.id, role, now });
      return { person: present, accountId, signedIn: null };
    }
    const person = await insertPerson(transaction, { address: link, password: hashed, now });
    const entry = { actor: person.id, account, subject: person.id, now };
    await writeAudit(transaction, "person.signed_up", entry);
    await insertMember(transaction, { account, person: person.id, role, now });
    const signedIn = await openSession(transaction, { person, client, account, now });
    return { person, accountId, signedIn };
  });
}
