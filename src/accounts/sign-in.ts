/** Signs people in by address and password. Neither the response nor its timing reveals which addresses are known. */
import { service, writeAudit } from "#store/audit.ts";
import type { ControlDatabase, ControlTransaction, PersonTable } from "#store/control-tables.ts";
import { DomainError } from "#store/store-fault.ts";
import type { ControlStore } from "#store/stores.ts";
import type { Hasher, Passwords, Trust } from "./passwords.ts";
import { foldAddress, personOf, personRow, requirePersonRow } from "./people.ts";
import { isKnownBrowser, openSession, type OpenedSession } from "./sessions.ts";
import { admit, type Client, forgive, isClean, networksOf, type Subject } from "./throttle.ts";

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
export function confirmPassword(
  control: ControlStore,
  passwords: Passwords,
  order: { person: string; password: string; now: number },
): Promise<void> {
  return passwords.inTurn(async (hasher) => {
    await confirmInTurn(control, hasher, order);
  }, "known");
}

/** Checks a password inside `inTurn`. @returns the person's row. */
export async function confirmInTurn(
  control: ControlStore,
  hasher: Hasher,
  { person, password, now }: { person: string; password: string; now: number },
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

/** Records a failure. For an unknown address, the transaction is as large as for a known one. */
async function noteFailure(
  transaction: ControlTransaction,
  row: PersonTable | undefined,
  now: number,
): Promise<null> {
  const entry = { actor: service, subject: row?.id ?? null, now };
  await writeAudit(transaction, "person.sign_in_failed", entry);
  return null;
}
