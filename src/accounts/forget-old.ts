/** Deletes data about people that is no longer needed: ended sessions and links, old known browsers and throttle counts. */
import type { Transaction } from "kysely";
import type { ControlTables } from "#store/control-tables.ts";
import { dayMilliseconds } from "#store/durations.ts";
import type { ControlStore } from "#store/stores.ts";
import { knownBrowserMilliseconds } from "./known-browsers.ts";
import { idleMilliseconds } from "./sessions.ts";
import { forgetThrottles } from "./throttle.ts";

/** How long a link is kept after its end, so that an operator can see why it was refused. */
const endedLinkMilliseconds = 7 * dayMilliseconds;

/** To be called from time to time; every sign-in does it too. */
export const forgetOld = (control: ControlStore, now: number): Promise<void> =>
  control.write((transaction) => forgetOldRows(transaction, now));

/** Part of a transaction. */
export async function forgetOldRows(
  transaction: Transaction<ControlTables>,
  now: number,
): Promise<void> {
  const before = (milliseconds: number) => new Date(now - milliseconds).toISOString();
  await transaction
    .deleteFrom("session")
    .where((row) =>
      row.or([row("ends_at", "<=", before(0)), row("seen_at", "<=", before(idleMilliseconds))]),
    )
    .execute();
  await transaction
    .deleteFrom("link")
    .where("expires_at", "<=", before(endedLinkMilliseconds))
    .execute();
  await transaction
    .deleteFrom("known_browser")
    .where("seen_at", "<=", before(knownBrowserMilliseconds))
    .execute();
  await forgetThrottles(transaction, now);
}
