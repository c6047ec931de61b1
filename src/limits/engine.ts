/** The server that counts for several instances: what it is asked in one turn of the event loop, and what it answers. */
import type { QuotaStatus } from "./counters.ts";
import { type Quotas, windows } from "./policy.ts";
import { quotaStatus, windowStatus } from "./sliding-log.ts";

export interface Engine {
  /** As a URL without user and password, for messages; of a cluster it also says that it is one. */
  readonly place: string;
  /** The most groups it is asked at once, so that an answer takes no longer than an outage does to be noticed. */
  readonly groupsMax: number;
  /**
   * Opens a connection in place of the one before, and checks that the server can be used.
   * @param onLost is called once, when this connection ends otherwise than by `disconnect`.
   * @throws StoreFault `unusable`, naming the place, where the server must be set up first; another error where it does not answer.
   */
  connect(onLost: (fault: Error) => void): Promise<void>;
  /** Decides groups, in the order of their accounts. @returns the decisions in the same order. */
  decide(groups: readonly Group[]): Promise<Decision[]>;
  /** Accounts with the same number are charged together. */
  partOf(account: number): number;
  charge(charge: Charge): Promise<void>;
  /** Drops the connection; whatever was asked is rejected. */
  disconnect(): void;
}

/** Requests that an instance admitted by itself, to be counted now. Accounts are of one part, in ascending order. */
export interface Charge {
  /** Names the instance, and which of its charges this is: one that was done already changes nothing. */
  instance: string;
  number: number;
  part: number;
  /** How long ago each request was, in µs, the oldest first. */
  accounts: readonly { account: number; ages: readonly number[] }[];
}

/** Requests of one account that are decided together, at one moment: one after the other, or as a whole. */
export interface Group {
  account: number;
  quotas: Quotas;
  /** How many are to be counted; with 0 nothing is written, and the decision says what one would meet. */
  requests: number;
  /** Whether they are one that counts so many: all of them are counted, or none. */
  isWhole?: boolean;
}

/** The requests of a group as engines are sent them: a number below zero for a whole. */
export const signedRequests = ({ requests, isWhole = false }: Group): number =>
  isWhole ? -requests : requests;

/** What an engine decided of a group, in µs by its clock; it counted the first `admitted` requests and no other. */
export interface Decision {
  admitted: number;
  /** Minute, hour, day, with those counted. */
  windows: readonly WindowCount[];
}

interface WindowCount {
  count: number;
  /** Until the oldest request leaves; 0 if there is none. */
  resetMicroseconds: number;
  /** Until the window admits another request, or as many as a whole is; 0 if it does. */
  waitMicroseconds: number;
}

/** Numbers of a decision as engines send it: `admitted`, then count, reset and wait of each window. */
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
 * The status of one request of a group.
 * @param position of the request in its group, from 0 on; for a look and for a whole 0.
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
  // Of those admitted, each was answered before the next was counted.
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
