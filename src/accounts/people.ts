/** People, each with an address and a password. Validates addresses and compares them. */
import { domainToASCII } from "node:url";
import type { ControlDatabase, ControlTransaction, PersonTable } from "#store/control-tables.ts";
import { DomainError } from "#store/store-fault.ts";
import { makeId } from "#store/random-text.ts";

export type Person = ReturnType<typeof personOf>;

/** Returns the person with this address, in any letter case. Returns undefined if there is none. */
export async function findPerson(
  database: ControlDatabase,
  address: string,
): Promise<Person | undefined> {
  const row = await personRow(database, "email_folded", foldAddress(address));
  return row && personOf(row);
}

/** Returns the person with this address. @throws DomainError `not_found`. */
export async function requirePerson(database: ControlDatabase, address: string): Promise<Person> {
  const person = await findPerson(database, address);
  if (person !== undefined) return person;
  throw new DomainError(
    "not_found",
    `Nobody has signed up with the address '${address.slice(0, 100)}'. Check the spelling, or make a link to sign up: gp-records accounts invite ADDRESS`,
  );
}

/** Returns a person's row. @throws DomainError `not_found` if the person has been deleted. */
export async function requirePersonRow(
  database: ControlDatabase,
  id: string,
): Promise<PersonTable> {
  const row = await personRow(database, "id", id);
  if (row !== undefined) return row;
  throw new DomainError(
    "not_found",
    "The login was deleted before this request was finished, so nothing was changed.",
  );
}

/**
 * Inserts a person.
 * @param password hash; null if the address belonged to somebody who has just given it up.
 * @throws DomainError `conflict` if somebody has the address, or the password is null.
 */
export async function insertPerson(
  transaction: ControlTransaction,
  { address, password, now }: { address: Address; password: string | null; now: number },
): Promise<Person> {
  if ((await personRow(transaction, "email_folded", address.folded)) !== undefined)
    throw new DomainError(
      "conflict",
      "Somebody has already signed up with this address. Sign in with the password that was chosen then, or choose a new one through “Forgot your password?”.",
    );
  if (password === null)
    throw new DomainError(
      "conflict",
      "The person who had this address has just given it up. To sign up with it, choose a password.",
    );
  const row = {
    id: makeId("pe"),
    email: address.email,
    email_folded: address.folded,
    password,
    created_at: new Date(now).toISOString(),
  };
  await transaction.insertInto("person").values(row).execute();
  return personOf(row);
}

export const personRow = (
  database: ControlDatabase,
  column: "id" | "email_folded",
  value: string,
): Promise<PersonTable | undefined> =>
  database.selectFrom("person").selectAll().where(column, "=", value).executeTakeFirst();

export const personOf = (row: PersonTable) => ({
  id: row.id,
  email: row.email,
  createdAt: row.created_at,
});

export interface Address {
  /** Address as it was written, but in NFC and without surrounding spaces. */
  email: string;
  /** Folded form, which no two people share. */
  folded: string;
}

/** Maximum length of an address in bytes: RFC 5321, 4.5.3.1.3, and erratum 1690 to RFC 3696. */
const lengthMax = 254;
const localLengthMax = 64;
/** Number of code units to read, the rest being too long for an address: NFC may take quadratic time. */
const readMax = 4 * lengthMax;

// Quoted local parts, comments and domains in brackets are refused. Real addresses hardly ever have them, and mail
// headers stay simple without them.
const localShape = /^[^\s@"(),:;<>[\]\\\p{C}]+$/u;
// Without this check, `domainToASCII` would treat part of the string as a path or an escape, and drop it.
const domainShape = /^[\p{L}\p{M}\p{N}.-]+$/u;
// Refuses a single label, which names a machine in the local network, and a last label that begins with a digit, as in
// an IP address. Both are usually typing errors.
const asciiDomainShape =
  /^(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+[a-z](?:[a-z\d-]{0,61}[a-z\d])?$/;

/** Parses an address. @throws DomainError `invalid` if it is too long or not an address. */
export function readAddress(text: string): Address {
  const email = text.slice(0, readMax).normalize("NFC").trim();
  if (Buffer.byteLength(email) > lengthMax)
    throw new DomainError("invalid", `The e-mail address must have at most ${lengthMax} bytes.`);
  const at = email.lastIndexOf("@");
  const isDomain = asciiDomainShape.test(asciiDomain(email.slice(at + 1)));
  if (!isLocal(email.slice(0, Math.max(at, 0))) || !isDomain)
    throw new DomainError(
      "invalid",
      `'${email.slice(0, 100)}' is not an e-mail address that can be used. Enter an address such as name@company.example.`,
    );
  return { email, folded: foldAddress(email) };
}

/** Returns an address in its folded form: trimmed, NFC, in lower case, and with the domain as in the DNS. */
export function foldAddress(text: string): string {
  const folded = text.slice(0, readMax).normalize("NFC").trim().toLowerCase().normalize("NFC");
  const at = folded.lastIndexOf("@");
  const domain = at < 0 ? "" : asciiDomain(folded.slice(at + 1));
  return domain === "" ? folded : `${folded.slice(0, at)}@${domain}`;
}

const isLocal = (local: string) =>
  localShape.test(local) &&
  Buffer.byteLength(local) <= localLengthMax &&
  !/^\.|\.\.|\.$/.test(local);

/** Returns a domain as in the DNS, or an empty string if it is not a domain. */
const asciiDomain = (domain: string) => (domainShape.test(domain) ? domainToASCII(domain) : "");
