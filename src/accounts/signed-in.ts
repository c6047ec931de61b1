/** Opens a session for a person who has just proven who they are, always with new tokens. */
import type { Transaction } from "kysely";
import type { ControlTables } from "#store/control-tables.ts";
import { digestToken, makeId, makeToken } from "#store/random-text.ts";
import { browserOf, type Client, networkOf } from "./client.ts";
import { forgetOldRows } from "./forget-old.ts";
import { rememberBrowser } from "./known-browsers.ts";
import { listMemberships } from "./membership.ts";
import type { Person } from "./people.ts";
import { sessionMilliseconds } from "./sessions.ts";

/** The only object that ever holds the two tokens: each belongs in a cookie and nowhere else. */
export interface SignedIn {
  sessionToken: string;
  /** For a cookie that lasts 180 days. */
  browserToken: string;
  person: Person;
  /** Id of the session. */
  session: string;
  endsAt: string;
}

/** @param account number of the one to look at first; the oldest membership if left out. */
export async function openSession(
  transaction: Transaction<ControlTables>,
  {
    person,
    client,
    account,
    now,
  }: { person: Person; client: Client; account?: number; now: number },
): Promise<SignedIn> {
  await forgetOldRows(transaction, now);
  const sessionToken = makeToken();
  const [oldest] = account === undefined ? await listMemberships(transaction, person.id) : [];
  const row = {
    digest: digestToken(sessionToken),
    id: makeId("se"),
    person: person.id,
    account: account ?? oldest?.number ?? null,
    created_at: new Date(now).toISOString(),
    seen_at: new Date(now).toISOString(),
    ends_at: new Date(now + sessionMilliseconds).toISOString(),
    network: networkOf(client),
    browser: browserOf(client),
  };
  await transaction.insertInto("session").values(row).execute();
  const token = client.browserToken;
  const browserToken = await rememberBrowser(transaction, { token, person: person.id, now });
  return { sessionToken, browserToken, person, session: row.id, endsAt: row.ends_at };
}
