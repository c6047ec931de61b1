/** Changes the password of a signed-in person who knows the present one. */
import type { Selectable, Transaction } from "kysely";
import { writeAudit } from "#store/audit.ts";
import type { ControlTables, PersonTable } from "#store/control-tables.ts";
import { DomainError } from "#store/domain-error.ts";
import type { ControlStore } from "#store/stores.ts";
import type { Client } from "./client.ts";
import { forgetBrowsers } from "./known-browsers.ts";
import { useUpLinks } from "./one-time-links.ts";
import { checkPassword, type Passwords } from "./passwords.ts";
import { personOf, requirePersonRow } from "./people.ts";
import { deleteSessions } from "./sessions.ts";
import { confirmInTurn } from "./sign-in.ts";
import { openSession, type SignedIn } from "./signed-in.ts";
import { forgive } from "./throttle.ts";

/**
 * Ends all sessions of the person, this one too; the browser continues with new tokens.
 * @throws DomainError `refused` for a wrong present password, `invalid` for the next one, `busy`, or TooOften.
 */
export function changePassword(
  control: ControlStore,
  passwords: Passwords,
  {
    person,
    present,
    next,
    client,
    now,
  }: { person: string; present: string; next: string; client: Client; now: number },
): Promise<SignedIn> {
  return passwords.inTurn(async (hasher) => {
    const known = await confirmInTurn(control, hasher, { person, password: present, now });
    checkPassword(next, known.email);
    const hashed = await hasher.hash(next);
    return control.write(async (transaction) => {
      const row = await requirePersonRow(transaction, person);
      if (row.password !== known.password)
        throw new DomainError(
          "conflict",
          "The password was changed meanwhile. Sign in with that one.",
        );
      const entry = { actor: person, subject: person, now };
      await writeAudit(transaction, { ...entry, action: "person.password_changed" });
      return setPassword(transaction, { row, hashed, client, now });
    });
  }, "known");
}

/** Ends all sessions, known browsers and reset links; only this browser is signed in again, with new tokens. */
export async function setPassword(
  transaction: Transaction<ControlTables>,
  {
    row,
    hashed,
    client,
    now,
  }: { row: Selectable<PersonTable>; hashed: string; client: Client; now: number },
): Promise<SignedIn> {
  const { id: person, email_folded } = row;
  await transaction
    .updateTable("person")
    .set({ password: hashed })
    .where("id", "=", person)
    .execute();
  await deleteSessions(transaction, person);
  await forgetBrowsers(transaction, person);
  await useUpLinks(transaction, { kind: "reset", person, now });
  await forgive(transaction, [
    { kind: "address", of: email_folded },
    { kind: "person", of: person },
  ]);
  return openSession(transaction, { person: personOf(row), client, now });
}
