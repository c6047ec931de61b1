/** Names of accounts: which may be taken, and which one is still free. */
import type { Kysely } from "kysely";
import type { ControlTables } from "#store/control-tables.ts";
import { cleanName, nameLengthMax } from "#store/names.ts";
import { StoreFault } from "#store/store-fault.ts";
import { findAccount } from "./find-account.ts";

const idShape = /^ac_[0-9a-z]{16}$/i;

/** @throws StoreFault `invalid`. */
export function cleanAccountName(name: string): string {
  const cleaned = cleanName("account", name);
  if (idShape.test(cleaned))
    throw new StoreFault(
      "invalid",
      "The name of the account must not look like an id (ac_ and 16 characters).",
    );
  return cleaned;
}

/** @throws StoreFault `conflict`; @param own number of the account whose name it may be already. */
export async function refuseTakenName(
  database: Kysely<ControlTables>,
  name: string,
  own?: number,
): Promise<void> {
  const holder = await findAccount(database, name);
  if (holder !== undefined && holder.number !== own)
    throw new StoreFault(
      "conflict",
      `The name '${name}' is taken by the account ${holder.id}. Choose another one.`,
    );
}

/**
 * The name, or the first of `name 2`, `name 3` and so on that nobody has: whoever signs up need not learn which names there are.
 * @throws StoreFault `invalid`.
 */
export async function freeName(database: Kysely<ControlTables>, wanted: string): Promise<string> {
  const name = cleanAccountName(wanted);
  for (let count = 1; ; count++) {
    const ending = count === 1 ? "" : ` ${count}`;
    const letters = Array.from(name).slice(0, nameLengthMax - ending.length);
    const candidate = letters.join("").trimEnd() + ending;
    if ((await findAccount(database, candidate)) === undefined) return candidate;
  }
}

/** What an account is called unless somebody chooses: what stands before the @ of the address. */
export function nameFromAddress(email: string): string {
  const local = email.slice(0, email.lastIndexOf("@"));
  return idShape.test(local) ? `${local} account` : local;
}
