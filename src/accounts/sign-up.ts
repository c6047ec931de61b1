/**
 * Makes the links that people request for an address. With a sign-up link a person chooses a password and gets an
 * account.
 */
import { service, writeAudit } from "#store/audit.ts";
import type { ControlStore } from "#store/stores.ts";
import { freeName, insertAccount, nameFromAddress } from "./accounts.ts";
import { insertMember } from "./members.ts";
import { lookAtLink, type MadeLink, makeLink, useLink, useUpLinks } from "./one-time-links.ts";
import { hashNew, type Passwords } from "./passwords.ts";
import { type Address, findPerson, insertPerson, readAddress } from "./people.ts";
import { openSession, type OpenedSession } from "./sessions.ts";
import { admit, type Client, networksOf } from "./throttle.ts";

/** Stand-in for the address of a reset link that is sent nowhere. */
const nobody: Address = { email: "", folded: "" };

/**
 * Makes a link to sign up or to choose a new password. The work is the same for known and unknown addresses, so that
 * only the mail's reader learns the difference. For a known address it is always a link for a new password. The link
 * goes to the stored address, because the typed one folds to the same string but may lead to somebody else's mail.
 * @returns `isKnown` and the link. A link for a new password must be sent nowhere if the address is unknown.
 * @throws DomainError `invalid` if the text is not an address, or TooOften.
 */
export async function requestLink(
  control: ControlStore,
  kind: "sign-up" | "reset",
  { address: text, client, now }: { address: string; client: Client; now: number },
): Promise<MadeLink & { isKnown: boolean }> {
  const typed = readAddress(text);
  const { folded } = typed;
  return control.write(async (transaction) => {
    await admit(transaction, [{ kind: "mail", of: folded }, ...networksOf(client)], now);
    const known = await findPerson(transaction, folded);
    const isSignUp = kind === "sign-up";
    const unproven = isSignUp ? typed : nobody;
    const made = await makeLink(transaction, {
      kind: known === undefined ? kind : "reset",
      address: known === undefined ? unproven : { email: known.email, folded },
      person: known?.id ?? null,
      now,
    });
    const action = isSignUp ? "person.sign_up_asked" : "person.reset_asked";
    const subject = isSignUp ? made.id : (known?.id ?? null);
    await writeAudit(transaction, action, { actor: service, subject, now });
    return { ...made, isKnown: known !== undefined };
  });
}

export interface Completion {
  token: string;
  password: string;
  /** Name of the account; null for the part of the address before the @. */
  accountName: string | null;
  client: Client;
  now: number;
}

/**
 * Creates a person, their account and its ownership, or none of them, and signs the person in.
 * @throws LinkFault, or DomainError `invalid` for the password or the name, `conflict` if somebody has signed up with
 *   the address meanwhile, or `busy`.
 */
export async function completeSignUp(
  control: ControlStore,
  passwords: Passwords,
  { token, password, accountName, client, now }: Completion,
): Promise<OpenedSession & { accountId: string }> {
  const { email } = await lookAtLink(control.database, token, now);
  const hashed = await hashNew(passwords, password, email);
  return control.write(async (transaction) => {
    const { email, folded } = await useLink(transaction, { token, kind: "sign-up", now });
    const address = { email, folded };
    const person = await insertPerson(transaction, { address, password: hashed, now });
    const { id: actor } = person;
    const name = await freeName(transaction, accountName ?? nameFromAddress(email));
    const made = await insertAccount(transaction, { name, quotas: {}, actor, now });
    const { number: account, id: accountId } = made;
    await insertMember(transaction, { account, person: actor, role: "owner", now });
    await useUpLinks(transaction, { kind: "sign-up", folded, now });
    await writeAudit(transaction, "person.signed_up", { actor, account, subject: actor, now });
    const signedIn = await openSession(transaction, { person, client, account, now });
    return { ...signedIn, accountId };
  });
}
