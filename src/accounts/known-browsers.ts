/** Browsers that somebody has signed in with, which the wrong guesses of others do not slow down. */
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
 * The value for the browser's cookie: the present one if this person has signed in with it before, else a new one. A value
 * planted by somebody else is never reused.
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

/** Deletes all known browsers of a person. */
export async function forgetBrowsers(
  transaction: Transaction<ControlTables>,
  person: string,
): Promise<void> {
  await transaction.deleteFrom("known_browser").where("person", "=", person).execute();
}
