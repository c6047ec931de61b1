/**
 * Lets people sign up and sign in, and change their password or address, which takes the present password, a one-time
 * link or both. Neither a response nor its timing reveals which addresses are known.
 */
import { operator, service, writeAudit } from "#store/audit.ts";
import type { ControlDatabase, ControlTransaction, PersonTable } from "#store/control-tables.ts";
import { DomainError } from "#store/store-fault.ts";
import type { ControlStore } from "#store/stores.ts";
import { freeName, insertAccount, nameFromAddress } from "./accounts.ts";
import { insertMember } from "./members.ts";
import { lookAtLink, type MadeLink, makeLink, useLink, useUpLinks } from "./one-time-links.ts";
import { checkPassword, type Hasher, hashNew, type Passwords, type Trust } from "./passwords.ts";
import {
  type Address,
  findPerson,
  foldAddress,
  insertPerson,
  type Person,
  personOf,
  personRow,
  readAddress,
  requirePerson,
  requirePersonRow,
} from "./people.ts";
import { deleteSessions, isKnownBrowser, type OpenedSession, openSession } from "./sessions.ts";
import { admit, type Client, forgive, isClean, networksOf, type Subject } from "./throttle.ts";

/** Placeholder for the address of a reset link that is never sent. */
const nobody: Address = { email: "", folded: "" };

/**
 * Makes a link to sign up or to choose a new password. The work is the same for known and unknown addresses, so that
 * only the mail's reader learns the difference. The link for a known address is always for a new password. It goes to
 * the stored address, because the typed one folds to the same string but may be somebody else's mailbox.
 * @returns `isKnown` and the link. A link for a new password must not be sent if the address is unknown.
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

interface Completion {
  token: string;
  password: string;
  /** Name of the account; null for the part of the address before the @. */
  accountName: string | null;
  client: Client;
  now: number;
}

/**
 * Creates a person and an account that the person owns, in one transaction, and signs the person in.
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
    const link = await useLink(transaction, { token, kind: "sign-up", now });
    const person = await insertPerson(transaction, { address: link, password: hashed, now });
    const { id: actor } = person;
    const name = await freeName(transaction, accountName ?? nameFromAddress(email));
    const made = await insertAccount(transaction, { name, quotas: {}, actor, now });
    const { number: account, id: accountId } = made;
    await insertMember(transaction, { account, person: actor, role: "owner", now });
    await useUpLinks(transaction, { kind: "sign-up", email_folded: link.folded }, now);
    await writeAudit(transaction, "person.signed_up", { actor, account, subject: actor, now });
    const signedIn = await openSession(transaction, { person, client, account, now });
    return { ...signedIn, accountId };
  });
}

/** A signed-in person, by id, and the password to confirm. */
interface OwnPassword {
  person: string;
  password: string;
  now: number;
}

/**
 * Changes a person's password and ends all their sessions, including the present one. The browser continues with new
 * tokens.
 * @throws DomainError `refused` if the present password is wrong, `invalid` if the new one cannot be used, `conflict`
 *   if the password has been changed meanwhile, `not_found` for a deleted person, `busy`, or TooOften.
 */
export function changePassword(
  control: ControlStore,
  passwords: Passwords,
  { person, password, next, client, now }: OwnPassword & { next: string; client: Client },
): Promise<OpenedSession> {
  return passwords.inTurn(async (hasher) => {
    const known = await confirmInTurn(control, hasher, { person, password, now });
    checkPassword(next, known.email);
    const hashed = await hasher.hash(next);
    return control.write(async (transaction) => {
      const row = await requirePersonRow(transaction, person);
      if (row.password !== known.password)
        throw new DomainError(
          "conflict",
          "Your password was changed elsewhere in the meantime, so the one you chose here was not saved. Sign in with the password that was chosen there.",
        );
      const entry = { actor: person, subject: person, now };
      await writeAudit(transaction, "person.password_changed", entry);
      return setPassword(transaction, { row, hashed, client, now });
    });
  }, "known");
}

/** Sets a password, ends all sessions and links, and forgets known browsers. Then signs this browser in. */
async function setPassword(
  transaction: ControlTransaction,
  { row, hashed, client, now }: { row: PersonTable; hashed: string; client: Client; now: number },
): Promise<OpenedSession> {
  const { id: person, email_folded } = row;
  await transaction
    .updateTable("person")
    .set({ password: hashed })
    .where("id", "=", person)
    .execute();
  await deleteSessions(transaction, person);
  await transaction.deleteFrom("known_browser").where("person", "=", person).execute();
  // Somebody who knew the former password may have asked for a link for another address.
  await useUpLinks(transaction, { person }, now);
  await forgive(transaction, [
    { kind: "address", of: email_folded },
    { kind: "person", of: person },
  ]);
  return openSession(transaction, { person: personOf(row), client, now });
}

/** Makes a reset link for the operator to hand out. @throws DomainError `not_found` if nobody has the address. */
export function makeResetLink(
  control: ControlStore,
  { address, now }: { address: string; now: number },
): Promise<MadeLink> {
  return control.write(async (transaction) => {
    const { id: person, email } = await requirePerson(transaction, address);
    const made = await makeLink(transaction, {
      kind: "reset",
      address: readAddress(email),
      person,
      now,
    });
    await writeAudit(transaction, "person.reset_asked", { actor: operator, subject: person, now });
    return made;
  });
}

/**
 * Sets the password chosen by a link's holder, ends all the person's sessions and signs this browser in.
 * @throws LinkFault, or DomainError `invalid` for an unusable password, `not_found` for a deleted person, or `busy`.
 */
export async function completeReset(
  control: ControlStore,
  passwords: Passwords,
  { token, password, client, now }: Omit<Completion, "accountName">,
): Promise<OpenedSession> {
  const { email } = await lookAtLink(control.database, token, now);
  const hashed = await hashNew(passwords, password, email);
  return control.write(async (transaction) => {
    const { person } = await useLink(transaction, { token, kind: "reset", now });
    const row = await requirePersonRow(transaction, person ?? "");
    await writeAudit(transaction, "person.password_reset", { actor: row.id, subject: row.id, now });
    return setPassword(transaction, { row, hashed, client, now });
  });
}

/**
 * Makes a link that proves a new address, unless somebody else has the address. In that case `isKnown` is true, `email`
 * is the address as that person wrote it, and `token` is empty. The response must not reveal this.
 * @throws as `confirmPassword` does, or DomainError `invalid` if the text is not an address.
 */
export async function requestAddressChange(
  control: ControlStore,
  passwords: Passwords,
  { person, password, address: text, now }: OwnPassword & { address: string },
): Promise<MadeLink & { isKnown: boolean }> {
  const address = readAddress(text);
  await confirmPassword(control, passwords, { person, password, now });
  return control.write(async (transaction) => {
    await admit(transaction, [{ kind: "mail", of: address.folded }], now);
    const holder = await findPerson(transaction, address.folded);
    // A person may change the letter case of their own address.
    const isKnown = holder !== undefined && holder.id !== person;
    const { folded } = address;
    const to = isKnown ? { email: holder.email, folded } : address;
    const made = await makeLink(transaction, { kind: "email", address: to, person, now });
    if (isKnown) await transaction.deleteFrom("link").where("id", "=", made.id).execute();
    const entry = { actor: person, subject: person, now };
    await writeAudit(transaction, "person.address_change_asked", entry);
    return { ...made, token: isKnown ? "" : made.token, isKnown };
  });
}

/**
 * Changes a person's address to the one that the link proves.
 * @returns the person with the new address, and the former address, to which the caller mails a notice.
 * @throws LinkFault, or DomainError `conflict` if somebody else now has the address, `not_found` for a deleted person.
 */
export function completeAddressChange(
  control: ControlStore,
  { token, now }: { token: string; now: number },
): Promise<{ person: Person; formerEmail: string }> {
  return control.write(async (transaction) => {
    const link = await useLink(transaction, { token, kind: "email", now });
    const former = personOf(await requirePersonRow(transaction, link.person ?? ""));
    const { id: person } = former;
    const holder = await findPerson(transaction, link.folded);
    if (holder !== undefined && holder.id !== person)
      throw new DomainError(
        "conflict",
        "Another login has taken this address in the meantime, so yours was not changed. Ask for a link to a different address.",
      );
    await transaction
      .updateTable("person")
      .set({ email: link.email, email_folded: link.folded })
      .where("id", "=", person)
      .execute();
    // Links sent to the former address must no longer open the account.
    await useUpLinks(transaction, { person }, now);
    const entry = { actor: person, subject: person, now };
    await writeAudit(transaction, "person.address_changed", entry);
    return { person: { ...former, email: link.email }, formerEmail: former.email };
  });
}

interface Attempt {
  address: string;
  password: string;
  client: Client;
  now: number;
}

/**
 * Signs a person in. An attempt is counted before its password is checked, so that simultaneous attempts all count.
 * @throws DomainError `refused` with the same message for a wrong address and a wrong password, `busy`, or TooOften.
 */
export async function signIn(
  control: ControlStore,
  passwords: Passwords,
  { address, password, client, now }: Attempt,
): Promise<OpenedSession> {
  const row = await personRow(control.database, "email_folded", foldAddress(address));
  const { subjects, trust } = await senderOf(control.database, row, { address, client, now });
  return passwords.inTurn(async (hasher) => {
    await control.write((transaction) => admit(transaction, subjects, now));
    const isRight = await hasher.isPassword(password, row?.password ?? null);
    const signedIn = await control.write(async (transaction) => {
      // The password may have been changed during the check.
      const present = isRight ? await personRow(transaction, "id", row!.id) : undefined;
      if (present === undefined || present.password !== row!.password)
        return noteFailure(transaction, row, now);
      await forgive(transaction, subjects);
      const person = personOf(present);
      const opened = await openSession(transaction, { person, client, now });
      const { session: subject } = opened;
      await writeAudit(transaction, "person.signed_in", { actor: person.id, subject, now });
      return opened;
    });
    if (signedIn === null)
      throw new DomainError(
        "refused",
        "The address or the password is wrong. Try again, or choose a new password through “Forgot your password?”.",
      );
    return signedIn;
  }, trust);
}

/**
 * Checks a signed-in person's password before a critical action, such as closing an account.
 * @throws DomainError `refused` if the password is wrong, `not_found` for a deleted person, `busy`, or TooOften.
 */
export async function confirmPassword(
  control: ControlStore,
  passwords: Passwords,
  order: OwnPassword,
): Promise<void> {
  await passwords.inTurn((hasher) => confirmInTurn(control, hasher, order), "known");
}

/** Checks a password inside `inTurn`. @returns the person's row. @throws as `confirmPassword` does. */
async function confirmInTurn(
  control: ControlStore,
  hasher: Hasher,
  { person, password, now }: OwnPassword,
): Promise<PersonTable> {
  const subjects: Subject[] = [{ kind: "person", of: person }];
  const row = await control.write(async (transaction) => {
    await admit(transaction, subjects, now);
    return requirePersonRow(transaction, person);
  });
  const isRight = await hasher.isPassword(password, row.password);
  await control.write((transaction) =>
    isRight ? forgive(transaction, subjects) : noteFailure(transaction, row, now),
  );
  if (!isRight) throw new DomainError("refused", "Your password is wrong. Nothing was changed.");
  return row;
}

/**
 * Returns a sender's trust, and the subjects to count attempts for: the known browser, otherwise the address and the
 * networks.
 */
async function senderOf(
  database: ControlDatabase,
  row: PersonTable | undefined,
  { address, client, now }: Omit<Attempt, "password">,
): Promise<{ subjects: Subject[]; trust: Trust }> {
  const token = client.browserToken;
  if (await isKnownBrowser(database, { token, person: row?.id ?? "", now }))
    return { subjects: [{ kind: "browser", of: `${row!.id} ${token}` }], trust: "known" };
  const networks = networksOf(client);
  return {
    subjects: [{ kind: "address", of: foldAddress(address) }, ...networks],
    trust: (await isClean(database, networks, now)) ? "clean" : "failed",
  };
}

/** Records a failed check. The transaction is as large for an unknown address as for a known one. */
async function noteFailure(
  transaction: ControlTransaction,
  row: PersonTable | undefined,
  now: number,
): Promise<null> {
  const entry = { actor: service, subject: row?.id ?? null, now };
  await writeAudit(transaction, "person.sign_in_failed", entry);
  return null;
}
