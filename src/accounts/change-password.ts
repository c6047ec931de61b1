/** Another password for whoever is signed in and knows the present one. */
import { writeAudit } from "#store/audit.ts";
import { StoreFault } from "#store/store-fault.ts";
import type { ControlStore } from "#store/stores.ts";
import type { Client } from "./client.ts";
import { checkPassword } from "./password-rules.ts";
import type { Passwords } from "./passwords.ts";
import { requirePersonRow } from "./people.ts";
import { setPassword } from "./set-password.ts";
import { confirmInTurn } from "./sign-in.ts";
import type { SignedIn } from "./signed-in.ts";

/**
 * Ends all sessions of the person, this one too; the browser goes on with new tokens.
 * @throws StoreFault `refused` for a wrong present password, `invalid` for the next one, `busy`, or TooOften.
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
        throw new StoreFault(
          "conflict",
          "The password was changed meanwhile. Sign in with that one.",
        );
      const entry = { actor: person, subject: person, now };
      await writeAudit(transaction, { ...entry, action: "person.password_changed" });
      return setPassword(transaction, { row, hashed, client, now });
    });
  });
}
