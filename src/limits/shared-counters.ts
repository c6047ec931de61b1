/**
 * Counts for several instances in PostgreSQL or Valkey, each reached through an `Engine`. In an outage, each instance
 * counts by itself or refuses requests.
 */
import { randomUUID } from "node:crypto";
import { DomainError, StoreFault } from "#store/store-fault.ts";
import type { Clock } from "./clocks.ts";
import type { Counters, QuotaStatus } from "./counters.ts";
import { openMemoryCounters, quotaStatus, windowStatus } from "./memory-counters.ts";
import { dayMicroseconds, defaultQuotas, type Quotas, windows } from "./policy.ts";

/** Server that counts for several instances, and the connection to it. */
export interface Engine {
  /** Name of the server for messages: its URL without user and password, or the cluster at that URL. */
  readonly place: string;
  /** Maximum number of groups in one call of `decide`, so that the answer arrives before the wait for it ends. */
  readonly groupsMax: number;
  /**
   * Opens a connection in place of the previous one, and checks that the server can count.
   * @param onLost called once if this connection ends in any way other than by `disconnect`.
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
  /** Id of the instance, which numbers its charges. */
  instance: string;
  /** Number of the charge, higher than those before it. A charge that was already made changes nothing. */
  number: number;
  /**
   * Accounts in ascending order, with the age of each request in µs, oldest first. Requests a day old or older are not
   * counted.
   */
  accounts: readonly { account: number; ages: readonly number[] }[];
}

/** Requests of one account that the engine decides together. */
export interface Group {
  account: number;
  quotas: Quotas;
  /**
   * Number of requests to count. 0 writes nothing, and only asks whether a request would be admitted. -n is one request
   * that counts as n: either all n are counted or none.
   */
  requests: number;
}

/**
 * Engine's decision on a group. It begins with the number of requests counted, the group's first ones. Three numbers
 * each for minute, hour and day follow: the requests in the window, including the new ones; the µs until the oldest
 * leaves, 0 if there is none; and the µs until the window admits another request of this size, 0 if it does now.
 */
export type Decision = readonly number[];

/** Groups that count nothing, to test a connection. */
export const probe: readonly Group[] = [{ account: 1, quotas: defaultQuotas, requests: 0 }];

/** Behaviour during an outage: every instance counts by itself, or requests are refused. */
type OutageMode = "local" | "deny";

export interface SharedCountersOptions {
  engine: Engine;
  outage: OutageMode;
  clock: Clock;
  /**
   * Called with the reason when counts are not shared, including at the start. Called again if a different reason
   * appears that the operator has to fix. Called with null when counts are shared again. Never called after `close`.
   * Must not throw.
   */
  onFault: (fault: Error | null) => void;
  patience: Patience;
}

/** Waits of an instance, in ms. */
export interface Patience {
  /** Wait for an answer before the outage mode applies. It is a setting, so it has no default here. */
  answer: number;
  /** Wait for a connection; 1500 by default. */
  connection?: number;
  /** Wait for a round of charges; 1000 by default. The last round has only the time of `answer`. */
  charge?: number;
  /** Time between two attempts to reach an unavailable engine; 250 by default. */
  retry?: number;
}

/**
 * Opens shared counters after one attempt to connect. The outage mode applies until this or a later attempt succeeds.
 * @throws StoreFault if counts cannot be shared until the operator changes something.
 */
export async function openSharedCounters({
  engine,
  outage,
  clock,
  onFault,
  patience: chosen,
}: SharedCountersOptions) {
  const patience = { connection: 1500, charge: 1000, retry: 250, ...chosen };
  // Every request that this instance admitted, wherever it was counted, so that in an outage no account exceeds its
  // quota here.
  const own = openMemoryCounters(clock);
  const debts = openDebts(engine, clock);
  let state: "shared" | "away" | "returning" = "away";
  /** Groups that have not been sent yet. */
  let collected: AskedGroup[] = [];
  /** Unsent groups that further single requests may join, by account. */
  let openGroups = new Map<number, AskedGroup>();
  let isFlushDue = false;
  let sent: AskedGroup[] | null = null;
  let reported: string | null = null;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  /**
   * Asks the engine about a request. An account's single requests share a group while the quotas are the same object. A
   * look has a group of its own, and so does a request that counts as several.
   */
  const ask = (account: number, quotas: Quotas, requests: number): Promise<QuotaStatus> => {
    const answered = Promise.withResolvers<QuotaStatus>();
    const isSingle = requests === 1;
    let group = isSingle ? openGroups.get(account) : undefined;
    if (group?.quotas !== quotas) {
      group = { account, quotas, requests: 0, waiting: [] };
      collected.push(group);
      if (isSingle) openGroups.set(account, group);
    }
    group!.requests += requests > 1 ? -requests : requests;
    group!.waiting.push(answered);
    if (!isFlushDue && sent === null) {
      isFlushDue = true;
      setImmediate(flush);
    }
    return answered.promise;
  };

  /** Sends collected groups. Only one batch is in progress at a time, so batches grow as an engine gets slower. */
  const flush = () => {
    isFlushDue = false;
    if (state !== "shared" || sent !== null || collected.length === 0) return;
    const batch = collected.splice(0, engine.groupsMax);
    batch.sort((a, b) => a.account - b.account);
    sent = batch;
    for (const { account } of batch) openGroups.delete(account);
    within(patience.answer, engine.decide(batch))
      .then((decisions) => {
        if (sent !== batch) return;
        for (const [i, group] of batch.entries()) {
          const decision = decisions[i]!;
          for (let counted = 0; counted < decision[0]!; counted++) own.count(group.account);
          for (const [position, { resolve }] of group.waiting.entries())
            resolve(statusOf(group, decision, position));
        }
        sent = null;
        flush();
      })
      .catch((fault: Error) => {
        if (sent === batch) lose(fault);
      });
  };

  /** Begins an outage. Until the engine is back, the outage mode applies to the waiting requests and all later ones. */
  const lose = (fault: Error) => {
    if (state === "away") return;
    state = "away";
    engine.disconnect();
    report(fault);
    const groups = [...(sent ?? []), ...collected];
    sent = null;
    collected = [];
    openGroups = new Map();
    for (const group of groups) answerAlone(group);
    retrySoon();
  };

  const answerAlone = ({ account, quotas, requests, waiting }: AskedGroup) => {
    for (const { resolve, reject } of waiting)
      if (requests === 0) resolve(lookAlone(account, quotas));
      else if (outage === "deny") reject(countersAway());
      else resolve(takeAlone(account, quotas, Math.max(1, -requests)));
  };

  const lookAlone = (account: number, quotas: Quotas): QuotaStatus => ({
    ...own.look(account, quotas),
    isPartial: true,
  });

  const takeAlone = (account: number, quotas: Quotas, requests: number): QuotaStatus => {
    const status = own.take(account, quotas, requests);
    if (status.admitted) for (let counted = 0; counted < requests; counted++) debts.add(account);
    return status;
  };

  const report = (fault: Error) => {
    if (isClosed) return;
    const meanwhile =
      outage === "deny"
        ? "Until counts are shared, requests are refused."
        : "Until counts are shared, this instance counts by itself.";
    const message = `Counts are not shared: ${sentenceOf(fault, engine.place)} ${meanwhile}`;
    if (reported !== null && (message === reported || !isToBeMended(fault))) return;
    reported = message;
    // The fault is not attached as a cause, because some faults quote what was sent, such as a password.
    onFault(new Error(message));
  };

  const retrySoon = () => {
    if (isClosed) return;
    timer = setTimeout(() => {
      comeBack().catch(giveUp);
    }, patience.retry);
    timer.unref();
  };

  const giveUp = (fault: Error) => {
    // Requests that came during the last charges still wait for an answer.
    if (state === "returning") return lose(fault);
    engine.disconnect();
    report(fault);
    retrySoon();
  };

  /** Begins to share counts, at the start or after an outage. Connects, and charges the requests admitted meanwhile. */
  const comeBack = async () => {
    const connection = { isLost: false };
    await within(
      patience.connection,
      engine.connect((fault) => {
        connection.isLost = true;
        if (state === "shared") lose(fault);
      }),
    );
    // The server may have to prepare for the first answer, so only the second one has to be quick.
    await within(patience.connection, engine.decide(probe));
    await within(patience.answer, engine.decide(probe));
    for (let round = 0; round < roundsMax && debts.count() > fewDebts; round++)
      await within(patience.charge, debts.pay());
    // From here on, new requests wait, so that none is admitted during the last charges.
    state = "returning";
    await within(patience.answer, debts.pay());
    if (connection.isLost || isClosed) throw new Error("the connection ended");
    state = "shared";
    if (reported !== null) onFault(null);
    reported = null;
    flush();
  };

  try {
    await comeBack();
  } catch (error) {
    if (isToBeMended(error)) {
      engine.disconnect();
      throw new StoreFault("unusable", `Counts cannot be shared: ${error.message}`);
    }
    giveUp(error as Error);
  }

  return {
    take(account, quotas, requests = 1) {
      if (state !== "away") return ask(account, quotas, requests);
      if (outage === "deny") return Promise.reject(countersAway());
      return takeAlone(account, quotas, requests);
    },
    look(account, quotas) {
      return state === "away" ? lookAlone(account, quotas) : ask(account, quotas, 0);
    },
    // A request has been counted when `take` resolves.
    commit() {},
    close() {
      isClosed = true;
      clearTimeout(timer);
      engine.disconnect();
      own.close();
    },
    /** Returns `shared` while the engine counts, otherwise the outage mode. */
    mode: () => (state === "shared" ? "shared" : outage),
  } satisfies Counters & { mode(): "shared" | OutageMode };
}

/** Requests that are decided together, with the promise of each. */
interface AskedGroup extends Group {
  waiting: PromiseWithResolvers<QuotaStatus>[];
}

/** Returns the error for a request that is refused during an outage in mode `deny`. */
const countersAway = () => new Error("Requests cannot be counted: no shared counters answer.");

const roundsMax = 8;
/** Number of requests that can be charged within the wait for an answer. */
const fewDebts = 256;
/** Reports whether a fault lasts until the operator changes something. */
const isToBeMended = (fault: unknown): fault is StoreFault =>
  fault instanceof StoreFault && fault.kind === "unusable";

/** Maximum number of accounts in one charge, so that the answer arrives before the wait for it ends. */
const accountsMax = 128;
/** Maximum number of requests in one charge. */
const chargedMax = 1000;

interface Debt {
  number: number;
  accounts: { account: number; times: number[] }[];
}

/** Tracks debts: requests that this instance admitted during an outage, to be charged to the shared counters later. */
function openDebts(engine: Engine, clock: Clock) {
  const instance = randomUUID();
  /** Times of requests that are not in a numbered debt yet, by account. */
  const times = new Map<number, number[]>();
  let lastNumber = 0;
  /** Numbered debts, oldest first. They no longer change once `numberAll` is done. */
  const numbered: Debt[] = [];

  /** Turns all requests into numbered debts. Called after all earlier debts have been paid. */
  const numberAll = () => {
    for (const account of [...times.keys()].toSorted((a, b) => a - b)) {
      const ofAccount = times.get(account)!;
      for (let from = 0; from < ofAccount.length; from += chargedMax) {
        const some = { account, times: ofAccount.slice(from, from + chargedMax) };
        const last = numbered.at(-1);
        if (last !== undefined && hasRoom(last, some.times.length)) last.accounts.push(some);
        else numbered.push({ number: ++lastNumber, accounts: [some] });
      }
    }
    times.clear();
  };
  const requestsIn = ({ accounts }: Debt) =>
    accounts.reduce((sum, { times: { length } }) => sum + length, 0);
  const hasRoom = (debt: Debt, more: number) =>
    debt.accounts.length < accountsMax && requestsIn(debt) + more <= chargedMax;

  const payNumbered = async () => {
    // Debts are paid one after the other, because a later number would make an earlier debt look paid.
    for (let debt = numbered[0]; debt !== undefined; debt = numbered[0]) {
      const now = clock.monotonicMicroseconds();
      const accounts = debt.accounts.map(({ account, times: some }) => ({
        account,
        ages: some.map((time) => now - time),
      }));
      await engine.charge({ number: debt.number, instance, accounts });
      // An attempt that was given up may have removed the debt already.
      if (numbered[0] === debt) numbered.shift();
    }
  };
  return {
    /** Adds a request admitted now, and drops those of its account that are a day old. */
    add(account: number) {
      const now = clock.monotonicMicroseconds();
      const ofAccount = times.getOrInsertComputed(account, () => []);
      ofAccount.push(now);
      while (now - ofAccount[0]! >= dayMicroseconds) ofAccount.shift();
    },
    /** Returns the number of requests to be charged. */
    count: () =>
      times.values().reduce((sum, { length }) => sum + length, 0) +
      numbered.reduce((sum, debt) => sum + requestsIn(debt), 0),
    /** Charges all debts. A charge that fails is sent again by the next call, under the same number. */
    async pay() {
      await payNumbered();
      numberAll();
      await payNumbered();
    },
  };
}

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
 * Waits for a promise. Rejects if it does not settle in time. The wait may exceed `milliseconds`, because on a busy
 * machine this process may not get to send the question or read the answer. A turn of the event loop therefore counts
 * as at most one part of the wait, however long it takes, and sockets are read once more after the last part.
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
