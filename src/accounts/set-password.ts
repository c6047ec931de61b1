/** Puts another password in place of a person's, and ends everything that rested on the former one. */
import type { Selectable, Transaction } from "kysely";
import type { ControlTables, PersonTable } from "#store/control-tables.ts";
import type { Client } from "./client.ts";
import { forgetBrowsers } from "./known-browsers.ts";
import { useUpLinks } from "./links.ts";
import { personOf } from "./people.ts";
import { deleteSessions } from "./sessions.ts";
import { openSession, type SignedIn } from "./signed-in.ts";
import { forgive } from "./throttle.ts";

/** All sessions, known browsers and links for a new password; this browser alone is signed in, with new tokens. */
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
