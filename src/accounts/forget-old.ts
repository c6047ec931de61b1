/** Deletes what is stored of people once nobody needs it: sessions and links that ended, browsers and counts long unseen. */
import type { Transaction } from "kysely";
import type { ControlTables } from "#store/control-tables.ts";
import { dayMilliseconds } from "#store/durations.ts";
import type { ControlStore } from "#store/stores.ts";
import { knownBrowserMilliseconds } from "./known-browsers.ts";
import { idleMilliseconds } from "./sessions.ts";
import { forgetThrottles } from "./throttle.ts";

/** Kept that long after its end, for whoever looks into the store why a link was refused. */
const endedLinkMilliseconds = 7 * dayMilliseconds;

/** Done with every sign-in too; to be called from time to time. */
export const forgetOld = (control: ControlStore, now: number): Promise<void> =>
  control.write((transaction) => forgetOldRows(transaction, now));

/** Part of a transaction that is under way. */
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
