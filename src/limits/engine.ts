/** Interface to a server that counts for several instances, and the wait for its answers. */
import { DomainError } from "#store/domain-error.ts";
import type { QuotaStatus } from "./counters.ts";
import { quotaStatus, windowStatus } from "./memory-counters.ts";
import { defaultQuotas, type Quotas, windows } from "./policy.ts";

export interface Engine {
  /** Name of the server for messages: its URL without user and password, or the cluster at that URL. */
  readonly place: string;
  /** Maximum number of groups in one call of `decide`, so that the answer arrives before the wait for it ends. */
  readonly groupsMax: number;
  /**
   * Opens a connection in place of the previous one, and checks that the server can count.
   * @param onLost called once if this connection ends in any other way than by `disconnect`.
   * @throws StoreFault `unusable`, naming the place, if the operator must change something first; another error if the
   *   server cannot count now.
   */
  connect(onLost: (fault: Error) => void): Promise<void>;
  /** Decides groups sorted by account. @returns the decisions in the same order. */
  decide(groups: readonly Group[]): Promise<Decision[]>;
  charge(charge: Charge): Promise<void>;
  /** Drops the connection and rejects every call in progress. */
  disconnect(): void;
}

/** Requests that an instance admitted by itself, to be counted now. */
export interface Charge {
  /** Id of the instance, which numbers its charges. A charge that was already made changes nothing. */
  instance: string;
  number: number;
  /**
   * Accounts in ascending order, with the age of each request in µs, oldest first. Requests a day old or older are not
   * counted.
   */
  accounts: readonly { account: number; ages: readonly number[] }[];
}

/** Requests of one account, decided at one moment: one after the other, or as a whole. */
export interface Group {
  account: number;
  quotas: Quotas;
  /**
   * Number of requests to count. If it is 0, nothing is written, and the decision says whether a request would be
   * admitted. If it is negative, one request counts as that many: all of them are counted, or none.
   */
  requests: number;
}

/** Question that counts nothing, to test a connection. */
export const probe: readonly Group[] = [{ account: 1, quotas: defaultQuotas, requests: 0 }];

/**
 * Engine's decision on a group. Its first number says how many requests were counted: the first ones of the group.
 * Three numbers each for minute, hour and day follow: the requests in the window, including the new ones; the µs until
 * the oldest leaves, 0 if there is none; and the µs until the window admits another request of this size, 0 if it does
 * now.
 */
export type Decision = readonly number[];

/**
 * Returns the quota status of one request of a group.
 * @param position index of the request in its group; 0 for a look and for a request that counts as several.
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

/** Number of parts of a wait. One turn of the event loop uses up at most one of them. */
const waitParts = 5;

/**
 * Waits for a promise. Rejects after at least this many ms. On a busy machine this process may not get to send the
 * question or read the answer. A turn of the event loop therefore counts as at most one part of the wait, however long
 * it takes, and sockets are read once more after the last part.
 */
export async function within<T>(milliseconds: number, promise: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const tooSlow = () => new Error(`it did not answer within ${milliseconds} ms`);
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

/**
 * Returns a sentence about a fault.
 * @param place name of the engine, which a DomainError's message already contains.
 */
export function sentenceOf(fault: Error, place: string): string {
  if (fault instanceof DomainError) return fault.message;
  return `${place} cannot count requests: ${fault.message || (fault as NodeJS.ErrnoException).code}.`;
}
