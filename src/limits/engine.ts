/** The server that counts for several instances: the questions of one turn of the event loop, and the wait for its answers. */
import { DomainError } from "#store/domain-error.ts";
import type { QuotaStatus } from "./counters.ts";
import { quotaStatus, windowStatus } from "./memory-counters.ts";
import { type Quotas, windows } from "./policy.ts";

export interface Engine {
  /** URL without user and password, for messages; it also tells a cluster from a single server. */
  readonly place: string;
  /** Maximum number of groups in one question, so that an answer arrives before it counts as an outage. */
  readonly groupsMax: number;
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
  /** Age of each request in µs, oldest first. */
  accounts: readonly { account: number; ages: readonly number[] }[];
}

/** Requests of one account, decided at one moment: one after the other, or as a whole. */
export interface Group {
  account: number;
  quotas: Quotas;
  /** Number to count. With 0 nothing is written, and the decision tells what one request would meet. */
  requests: number;
  /** Is this one request that counts as several? All of them are counted, or none. */
  isWhole?: boolean;
}

/** Returns the requests of a group as engines are sent them: below zero for a whole. */
export const signedRequests = ({ requests, isWhole = false }: Group): number =>
  isWhole ? -requests : requests;

/** An engine's decision on a group, in µs by its clock. It counted the first `admitted` requests and no others. */
export interface Decision {
  admitted: number;
  /** Minute, hour and day, with the requests just counted. */
  windows: readonly WindowCount[];
}

interface WindowCount {
  count: number;
  /** µs until the oldest request leaves; 0 if there is none. */
  resetMicroseconds: number;
  /** µs until the window admits another request, or another whole; 0 if it does now. */
  waitMicroseconds: number;
}

/** Numbers in a decision as engines send it: `admitted`, then count, reset and wait of each window. */
export const decisionNumbers = 1 + 3 * windows.length;

/** Reads the decision that begins at `at`. */
export function decisionFrom(numbers: ArrayLike<number>, at: number): Decision {
  return {
    admitted: numbers[at]!,
    windows: windows.map((_, index) => ({
      count: numbers[at + 1 + 3 * index]!,
      resetMicroseconds: numbers[at + 2 + 3 * index]!,
      waitMicroseconds: numbers[at + 3 + 3 * index]!,
    })),
  };
}

/**
 * Returns the quota status of one request of a group.
 * @param position place of the request in its group, from 0; 0 for a look and for a whole.
 */
export function statusOf(
  { quotas, requests, isWhole = false }: Group,
  decision: Decision,
  position: number,
): QuotaStatus {
  const quotaOf = (index: number) => quotas[windows[index]!.name];
  const isLook = requests === 0;
  const admitted = isLook
    ? decision.windows.every(({ count }, index) => count < quotaOf(index))
    : position < decision.admitted;
  // Each admitted request is answered as if the later ones were not counted yet.
  const later = admitted && !isLook && !isWhole ? decision.admitted - 1 - position : 0;
  return quotaStatus(
    admitted,
    decision.windows.map(({ count, resetMicroseconds, waitMicroseconds }, index) =>
      windowStatus(
        index,
        quotaOf(index),
        count - later,
        resetMicroseconds,
        admitted ? 0 : waitMicroseconds,
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
  let left = waitParts;
  const timer = setInterval(() => {
    if (--left === 0) setImmediate(() => late.reject(new TooSlow(milliseconds)));
  }, milliseconds / waitParts);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearInterval(timer);
    late.promise.catch(() => {});
    promise.catch(() => {});
  }
}

class TooSlow extends Error {
  constructor(milliseconds: number) {
    super(`does not answer within ${milliseconds} ms`);
    this.name = "TooSlow";
  }
}

/** Returns a sentence about a fault. @param place URL of the engine, no user and password; a DomainError names it itself. */
export function sentenceOf(fault: Error, place: string): string {
  if (fault instanceof DomainError) return fault.message;
  if (fault instanceof TooSlow) return `${place} ${fault.message}.`;
  return `${place} fails: ${fault.message || (fault as NodeJS.ErrnoException).code}.`;
}
