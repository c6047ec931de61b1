/** What stands around every account page: whose it is, and where else to go. */
import type { Frame } from "#pages/account/frame.ts";
import type { Visit } from "./visit.ts";

/** Null for whoever is not signed in. */
export function framed({ visitor, path }: Visit): Frame | null {
  if (visitor === null) return null;
  const { person, account, accounts } = visitor;
  return {
    path,
    email: person.email,
    account: account === null ? null : { id: account.id, name: account.name, role: account.role },
    accounts: accounts.map(({ id, name }) => ({ id, name })),
  };
}
