/** Browsers that somebody signed in with: the wrong guesses of others do not slow those down. */
import type { Kysely, Transaction } from "kysely";
import type { ControlTables } from "#store/control-tables.ts";
import { dayMilliseconds } from "#store/durations.ts";
import { digestToken, makeToken } from "#store/random-text.ts";

export const knownBrowserMilliseconds = 180 * dayMilliseconds;

export async function isKnownBrowser(
  database: Kysely<ControlTables>,
  { token, person, now }: { token: string | null; person: string; now: number },
): Promise<boolean> {
  if (token === null) return false;
  const row = await database
    .selectFrom("known_browser")
    .select("person")
    .where("digest", "=", digestToken(token))
    .where("person", "=", person)
    .where("seen_at", ">", new Date(now - knownBrowserMilliseconds).toISOString())
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * What the cookie of the browser should hold from now on: what it holds if this person signed in with it before, else
 * something new. Whatever somebody else put there is not taken over.
 */
export async function rememberBrowser(
  transaction: Transaction<ControlTables>,
  { token, person, now }: { token: string | null; person: string; now: number },
): Promise<string> {
  const seen_at = new Date(now).toISOString();
  if (token !== null && (await isKnownBrowser(transaction, { token, person, now }))) {
    const present = transaction.updateTable("known_browser").set({ seen_at });
    await present.where("digest", "=", digestToken(token)).execute();
    return token;
  }
  const fresh = makeToken();
  const row = { digest: digestToken(fresh), person, seen_at };
  await transaction.insertInto("known_browser").values(row).execute();
  return fresh;
}

/** All of a person's, after which everybody who signs in as them is a stranger again. */
export async function forgetBrowsers(
  transaction: Transaction<ControlTables>,
  person: string,
): Promise<void> {
  await transaction.deleteFrom("known_browser").where("person", "=", person).execute();
}
