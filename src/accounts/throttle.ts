/** Slows down guessing without locking anybody out for good. The counts are stored, so they survive a restart. */
import { hash } from "node:crypto";
import { networksOf as networksOfAddress } from "#limits/client-network.ts";
import type { ControlDatabase, ControlTransaction } from "#store/control-tables.ts";
import { DomainError } from "#store/store-fault.ts";
import { dayMilliseconds, hourMilliseconds, minuteMilliseconds } from "#store/durations.ts";
import { counted } from "#words.ts";

/** Facts about the sender of a request to the account pages. */
export interface Client {
  /** IP address from the HTTP server. */
  address: string;
  userAgent: string;
  /** Value of the known-browser cookie; null if there is none. */
  browserToken: string | null;
}

/** Subject whose attempts are counted. Each is a failure until it is forgiven, so simultaneous ones all count. */
export interface Subject {
  kind: "address" | "browser" | "person" | "network" | "site" | "mail";
  /** Value, such as a folded address. Only a hash of it is stored. */
  of: string;
}

const longestWaitMilliseconds = 15 * minuteMilliseconds;
const firstWaitMilliseconds = 1000;
/** Number of attempts before the first wait. Waits of 1 s, 2 s, 4 s and so on follow, up to 15 minutes. */
const freeFailures = 5;
/** Limits for the kinds of subjects whose attempts are counted in windows. The first attempt starts a window. */
const windowed: Partial<Record<Subject["kind"], { tries: number; milliseconds: number }>> = {
  network: { tries: 20, milliseconds: 15 * minuteMilliseconds },
  site: { tries: 100, milliseconds: 15 * minuteMilliseconds },
  mail: { tries: 3, milliseconds: hourMilliseconds },
};
/** Time from the end of the last wait until a count starts over, in ms. */
export const forgottenMilliseconds = dayMilliseconds;

interface Count {
  failures: number;
  nextAt: number;
}

/** Returns a client's network, and its site if the network is a /64. */
export function networksOf({ address }: Client): Subject[] {
  const [network, site] = networksOfAddress(address);
  const subjects: Subject[] = [{ kind: "network", of: network }];
  if (site !== undefined) subjects.push({ kind: "site", of: site });
  return subjects;
}

/** Reports whether none of the subjects has an unforgiven attempt. */
export async function isClean(
  database: ControlDatabase,
  subjects: readonly Subject[],
  now: number,
): Promise<boolean> {
  const counts = subjects.map((subject) => present(database, subject, now));
  return (await Promise.all(counts)).every((count) => (count?.failures ?? 0) === 0);
}

/** Counts an attempt for all of the subjects, or for none. @throws TooOften if one of them has to wait. */
export async function admit(
  transaction: ControlTransaction,
  subjects: readonly Subject[],
  now: number,
): Promise<void> {
  const counts: [Subject, Count | null][] = [];
  for (const subject of subjects) counts.push([subject, await present(transaction, subject, now)]);
  const waits = counts.map(([subject, count]) => waitOf(subject, count, now));
  const wait = Math.max(0, ...waits);
  if (wait > 0) throw new TooOften(wait);
  for (const [subject, count] of counts) {
    const { failures, nextAt } = nextCount(subject, count, now);
    const columns = { failures, next_at: new Date(nextAt).toISOString() };
    await transaction
      .insertInto("throttle")
      .values({ subject: nameOf(subject), ...columns })
      .onConflict((conflict) => conflict.column("subject").doUpdateSet(columns))
      .execute();
  }
}

/**
 * Undoes a count after a success. Clears the count of an address, browser or person, but lowers that of a network, site
 * or mail by one.
 */
export async function forgive(
  transaction: ControlTransaction,
  subjects: readonly Subject[],
): Promise<void> {
  for (const subject of subjects)
    await (
      windowed[subject.kind] === undefined
        ? transaction.deleteFrom("throttle").where("subject", "=", nameOf(subject))
        : transaction
            .updateTable("throttle")
            .set((row) => ({ failures: row("failures", "-", 1) }))
            .where("subject", "=", nameOf(subject))
            .where("failures", ">", 0)
    ).execute();
}

async function present(
  database: ControlDatabase,
  subject: Subject,
  now: number,
): Promise<Count | null> {
  const row = await database
    .selectFrom("throttle")
    .selectAll()
    .where("subject", "=", nameOf(subject))
    .executeTakeFirst();
  if (row === undefined) return null;
  const nextAt = Date.parse(row.next_at);
  const window = windowed[subject.kind];
  const isOver = now >= nextAt + (window === undefined ? forgottenMilliseconds : 0);
  // No wait is that long, so the clock has been set back. Nobody should wait until it catches up.
  const isWrong = nextAt - now > (window?.milliseconds ?? longestWaitMilliseconds);
  return isOver || isWrong ? null : { failures: row.failures, nextAt };
}

function waitOf({ kind }: Subject, count: Count | null, now: number): number {
  if (count === null) return 0;
  const window = windowed[kind];
  return window === undefined || count.failures >= window.tries ? count.nextAt - now : 0;
}

function nextCount({ kind }: Subject, count: Count | null, now: number): Count {
  const failures = (count?.failures ?? 0) + 1;
  const window = windowed[kind];
  if (window !== undefined) return { failures, nextAt: count?.nextAt ?? now + window.milliseconds };
  const doublings = failures - freeFailures;
  const wait = doublings < 0 ? 0 : firstWaitMilliseconds * 2 ** doublings;
  return { failures, nextAt: now + Math.min(wait, longestWaitMilliseconds) };
}

const nameOf = ({ kind, of }: Subject) => `${kind}:${hash("sha256", of, "base64url")}`;

/** Refusal of an attempt that comes too soon after others, with the time to wait. */
export class TooOften extends DomainError {
  /** Time to wait in seconds, at least 1. */
  readonly retryAfterSeconds: number;

  constructor(waitMilliseconds: number) {
    const seconds = Math.max(1, Math.ceil(waitMilliseconds / 1000));
    const [count, unit] = seconds < 90 ? [seconds, "second"] : [Math.ceil(seconds / 60), "minute"];
    super("too_often", `There were too many attempts. Try again in ${counted(count, unit)}.`);
    this.name = "TooOften";
    this.retryAfterSeconds = seconds;
  }
}
