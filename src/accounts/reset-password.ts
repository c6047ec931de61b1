/** Sets a new password for a person who forgot the old one, by a link to their address. */
import { type Actor, operator, service, writeAudit } from "#store/audit.ts";
import type { ControlStore } from "#store/stores.ts";
import { type Address, readAddress } from "./addresses.ts";
import { setPassword } from "./change-password.ts";
import type { Client } from "./client.ts";
import { lookAtLink, type MadeLink, makeLink, useLink } from "./one-time-links.ts";
import { checkPassword, type Passwords } from "./passwords.ts";
import { findPerson, requirePerson, requirePersonRow } from "./people.ts";
import type { SignedIn } from "./signed-in.ts";
import { admit, networksOf } from "./throttle.ts";

/** Stored in place of an address that nobody has proven. */
const nobody: Address = { email: "", folded: "" };

/**
 * Does the same work for an unknown address, whose link is sent nowhere.
 * @returns null where there is nobody to mail it to; the page must not say so.
 * @throws DomainError `invalid` for what is no address, or TooOften.
 */
export async function requestReset(
  control: ControlStore,
  { address: text, client, now }: { address: string; client: Client; now: number },
): Promise<MadeLink | null> {
  const { folded } = readAddress(text);
  return control.write(async (transaction) => {
    const mail = { kind: "mail", of: folded } as const;
    await admit(transaction, [mail, ...networksOf(client)], now);
    const person = await findPerson(transaction, folded);
    const address = person === undefined ? nobody : { email: person.email, folded };
    const made = await makeLink(transaction, {
      kind: "reset",
      address,
      person: person?.id ?? null,
      now,
    });
    const entry = { actor: service, subject: person?.id ?? null, now };
    await writeAudit(transaction, { ...entry, action: "person.reset_asked" });
    return person === undefined ? null : made;
  });
}

/** The link an operator hands out. @throws DomainError `not_found`. */
export function makeResetLink(
  control: ControlStore,
  { address, actor = operator, now }: { address: string; actor?: Actor; now: number },
): Promise<MadeLink> {
  return control.write(async (transaction) => {
    const { id: person, email } = await requirePerson(transaction, address);
    const made = await makeLink(transaction, {
      kind: "reset",
      address: readAddress(email),
      person,
      now,
    });
    await writeAudit(transaction, { actor, action: "person.reset_asked", subject: person, now });
    return made;
  });
}

/**
 * Ends all sessions of the person and signs this browser in.
 * @throws LinkFault, or DomainError `invalid` for the password, `not_found` for a person who is gone, `busy`.
 */
export async function completeReset(
  control: ControlStore,
  passwords: Passwords,
  {
    token,
    password,
    client,
    now,
  }: { token: string; password: string; client: Client; now: number },
): Promise<SignedIn> {
  const { email } = await lookAtLink(control, token, now);
  checkPassword(password, email);
  const hashed = await passwords.inTurn((hasher) => hasher.hash(password), "clean");
  return control.write(async (transaction) => {
    const { person } = await useLink(transaction, { token, kind: "reset", now });
    const row = await requirePersonRow(transaction, person ?? "");
    const entry = { actor: row.id, subject: row.id, now };
    await writeAudit(transaction, { ...entry, action: "person.password_reset" });
    return setPassword(transaction, { row, hashed, client, now });
  });
}
