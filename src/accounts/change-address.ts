/** Changes the e-mail address of a person, once they have followed a link sent to the new one. */
import { writeAudit } from "#store/audit.ts";
import type { ControlStore } from "#store/stores.ts";
import { LinkFault, type MadeLink, makeLink, useLink, useUpLinks } from "./one-time-links.ts";
import type { Passwords } from "./passwords.ts";
import { readAddress, findPerson, findPersonById, type Person, refuseTaken } from "./people.ts";
import { confirmInTurn } from "./sign-in.ts";
import { admit } from "./throttle.ts";

interface AddressChange {
  person: string;
  password: string;
  address: string;
  now: number;
}

/**
 * Where somebody has the address already, only the caller learns it (`isKnown`), and there is no link: `token` is empty.
 * @throws DomainError `refused` for a wrong password, `invalid` for what is no address, `busy`, or TooOften.
 */
export async function requestAddressChange(
  control: ControlStore,
  passwords: Passwords,
  { person, password, address: text, now }: AddressChange,
): Promise<MadeLink & { isKnown: boolean }> {
  const address = readAddress(text);
  await passwords.inTurn(
    (hasher) => confirmInTurn(control, hasher, { person, password, now }),
    "known",
  );
  return control.write(async (transaction) => {
    await admit(transaction, [{ kind: "mail", of: address.folded }], now);
    const holder = await findPerson(transaction, address.folded);
    // One's own address in different letter case is the same address.
    const isKnown = holder !== undefined && holder.id !== person;
    const made = await makeLink(transaction, { kind: "email", address, person, now });
    if (isKnown) await transaction.deleteFrom("link").where("id", "=", made.id).execute();
    const entry = { actor: person, subject: person, now };
    await writeAudit(transaction, { ...entry, action: "person.address_change_asked" });
    return { ...made, token: isKnown ? "" : made.token, isKnown };
  });
}

/**
 * @returns the person with the new address, and the former one, which is to be told.
 * @throws LinkFault, or DomainError `conflict` where somebody else took the address meanwhile.
 */
export function completeAddressChange(
  control: ControlStore,
  { token, now }: { token: string; now: number },
): Promise<{ person: Person; formerEmail: string }> {
  return control.write(async (transaction) => {
    const link = await useLink(transaction, { token, kind: "email", now });
    const former = await findPersonById(transaction, link.person ?? "");
    if (former === undefined) throw new LinkFault("unknown");
    const { id: person } = former;
    const holder = await findPerson(transaction, link.folded);
    if (holder?.id !== person) await refuseTaken(transaction, link.folded);
    await transaction
      .updateTable("person")
      .set({ email: link.email, email_folded: link.folded })
      .where("id", "=", person)
      .execute();
    // Links sent to the former address must no longer open the account.
    for (const kind of ["reset", "email"] as const)
      await useUpLinks(transaction, { kind, person, now });
    const entry = { actor: person, subject: person, now };
    await writeAudit(transaction, { ...entry, action: "person.address_changed" });
    return { person: { ...former, email: link.email }, formerEmail: former.email };
  });
}
