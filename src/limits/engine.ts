/** The server that counts for several instances: the questions of one turn of the event loop, and the wait for its answers. */
import { DomainError } from "#store/domain-error.ts";
import type { QuotaStatus } from "./counters.ts";
import { quotaStatus, windowStatus } from "./memory-counters.ts";
import { type Quotas, windows } from "./policy.ts";

export interface Engine {
  /** URL without user and password, for messages; it also tells a cluster from a single server. */
  readonly place: string;
  /**
   * Opens a connection in place of the previous one, and checks that the server can count.
   * @param onLost called once if this connection ends other than by `disconnect`.
   * @throws StoreFault `unusable`, naming the place, if the server must be set up first; another error if it does not answer.
   */
  connect(onLost: (fault: Error) => void): Promise<void>;
  /** Decides groups, which are sorted by account. @returns the decisions in the same order. */
  decide(groups: readonly Group[]): Promise<Decision[]>;
  /** Returns the part of an account. Accounts of one part are charged together. */
  partOf(account: number): number;
  charge(charge: Charge): Promise<void>;
  /** Drops the connection and rejects every call under way. */
  disconnect(): void;
}

/** Requests that an instance admitted by itself, to be counted now. All accounts are of one part, in ascending order. */
export interface Charge {
  /** Instance, and the number of its charge. A charge that was made before changes nothing. */
  instance: string;
  number: number;
  part: number;
  /** Age of each request in µs, oldest first. Requests older than a day are not counted. */
  accounts: readonly { account: number; ages: readonly number[] }[];
}

/** Requests of one account, decided at one moment: one after the other, or as a whole. */
export interface Group {
  account: number;
  quotas: Quotas;
  /**
   * Number to count. With 0 nothing is written, and the decision tells what one request would meet. Below zero this is one
   * request that counts as several: all of them are counted, or none.
   */
  requests: number;
}

/**
 * An engine's decision on a group, in µs by its clock: how many requests it counted, which are the first ones, and then
 * three numbers each for minute, hour and day. These are the requests counted, with the new ones; the time until the oldest
 * leaves, 0 if there is none; and the time until the window admits another request, or another whole, 0 if it does now.
 */
export type Decision = readonly number[];

/**
 * Returns the quota status of one request of a group.
 * @param position place of the request in its group, from 0; 0 for a look and for a whole.
 */
export function statusOf(
  { quotas, requests }: Group,
  decision: Decision,
  position: number,
): QuotaStatus {
  const [counted = 0] = decision;
  const admitted =
    requests === 0
      ? windows.every(({ name }, index) => decision[3 * index + 1]! < quotas[name])
      : position < counted;
  // Each admitted request is answered as if the later ones were not counted yet.
  const later = admitted && requests > 0 ? counted - 1 - position : 0;
  return quotaStatus(
    admitted,
    windows.map(({ name }, index) =>
      windowStatus(
        index,
        quotas[name],
        decision[3 * index + 1]! - later,
        decision[3 * index + 2]!,
        admitted ? 0 : decision[3 * index + 3]!,
      ),
    ),
  );
}

/** Parts of a wait. One turn of the event loop uses up at most one of them. */
const waitParts = 5;

/**
 * Waits for a promise. Rejects after this many ms. A busy machine keeps this process from running, too, with the answer
 * unread or the question unsent. However long a turn of the event loop takes, it therefore counts as one part of the wait,
 * and sockets are read once more after the last part.
 */
export async function within<T>(milliseconds: number, promise: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const tooSlow = () => new Error(`it does not answer within ${milliseconds} ms`);
  let left = waitParts;
  const timer = setInterval(() => {
    if (--left === 0) setImmediate(() => late.reject(tooSlow()));
  }, milliseconds / waitParts);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearInterval(timer);
    late.promise.catch(() => {});
    promise.catch(() => {});
  }
}

/** Returns a sentence about a fault. @param place URL of the engine, no user and password; a DomainError names it itself. */
export function sentenceOf(fault: Error, place: string): string {
  if (fault instanceof DomainError) return fault.message;
  return `${place} fails: ${fault.message || (fault as NodeJS.ErrnoException).code}.`;
}
