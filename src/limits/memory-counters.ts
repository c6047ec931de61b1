/** The counters of one process: in memory, with a journal that survives a restart. */
import type { Counters, QuotaStatus } from "./counters.ts";
import { type JournalOptions, openJournal } from "./journal.ts";
import { assertRequests, type Quotas } from "./policy.ts";
import { countAt, lookAt, openWindows, shrink, type SlidingLog, takeFrom } from "./sliding-log.ts";

interface MemoryCountersOptions extends Omit<JournalOptions, "dir"> {
  /** Data folder with the journal; null for no journal. */
  dir: string | null;
}

interface MemoryCounters extends Counters {
  take(account: number, quotas: Quotas, requests?: number): QuotaStatus;
  look(account: number, quotas: Quotas): QuotaStatus;
  /** Counts a request that was admitted elsewhere, whatever the quotas. The journal does not get it. */
  count(account: number): void;
  /** Writes the journal. Never fails: `onFault` gets the reason, and no response is held back. */
  commit(): void;
  close(): void;
  /** Returns the number of accounts in memory: those that sent a request within about a day. */
  accountCount(): number;
}

const accountMax = 2 ** 32 - 1;

/** Opens counters that start from the journal of earlier runs, if there is one. A failing journal refuses no request. */
export function openMemoryCounters({ dir, clock, onFault }: MemoryCountersOptions): MemoryCounters {
  const journal = dir === null ? null : openJournal({ dir, clock, onFault });
  const logs = new Map<number, SlidingLog>();
  for (const [account, times] of journal?.past ?? []) logs.set(account, openWindows(times));
  const forgetOne = forgetter(logs);
  let now = clock.monotonicMicroseconds();

  return {
    take(account, quotas, requests = 1) {
      if (requests !== 1) assertRequests(requests, quotas);
      now = Math.max(now, clock.monotonicMicroseconds());
      const log = logs.get(account) ?? addLog(logs, account);
      const quotaStatus = takeFrom(log, quotas, now, requests);
      if (quotaStatus.admitted && journal !== null)
        for (let counted = 0; counted < requests; counted++) journal.append(account, now);
      forgetOne(now);
      return quotaStatus;
    },
    look(account, quotas) {
      now = Math.max(now, clock.monotonicMicroseconds());
      return lookAt(logs.get(account) ?? openWindows(), quotas, now);
    },
    count(account) {
      now = Math.max(now, clock.monotonicMicroseconds());
      countAt(logs.get(account) ?? addLog(logs, account), now);
      forgetOne(now);
    },
    commit() {
      journal?.write();
    },
    close() {
      journal?.close();
    },
    accountCount: () => logs.size,
  };
}

function addLog(logs: Map<number, SlidingLog>, account: number): SlidingLog {
  assertAccount(account);
  const log = openWindows();
  logs.set(account, log);
  return log;
}

/** @throws RangeError if this cannot be the number of an account. */
export function assertAccount(account: number): void {
  if (!Number.isInteger(account) || account < 1 || account > accountMax)
    throw new RangeError(`An account number must be 1 to ${accountMax}, but is ${account}.`);
}

/** Returns a function that forgets one idle account a call, round robin, so that no request pays for all accounts. */
function forgetter(logs: Map<number, SlidingLog>): (now: number) => void {
  let round = logs.entries();
  return (now) => {
    const next = round.next();
    if (next.done) round = logs.entries();
    else if (!shrink(next.value[1], now)) logs.delete(next.value[0]);
  };
}
