/** Requests that this instance admitted by itself while the shared counters were away, and that these do not count yet. */
import { randomUUID } from "node:crypto";
import type { Clock } from "./clocks.ts";
import type { Charge, Engine } from "./engine.ts";
import { dayMicroseconds } from "./sliding-log.ts";

/** Requests and accounts in one charge. */
const chargedMax = 1000;
const chargedAccountsMax = 128;

interface Debts {
  /** Adds a request of now. */
  add(account: number): void;
  count(): number;
  /** Has all of them charged. What fails stays, and is charged under the same numbers the next time. */
  pay(): Promise<void>;
}

interface Debt {
  number: number;
  part: number;
  accounts: { account: number; times: number[] }[];
}

export function openDebts(engine: Engine, clock: Clock): Debts {
  const instance = randomUUID();
  const times = new Map<number, number[]>();
  let unnumbered = 0;
  let lastNumber = 0;
  /** By part, oldest first. */
  const numbered = new Map<number, Debt[]>();

  const numberAll = () => {
    for (const account of [...times.keys()].toSorted((a, b) => a - b)) {
      const ofAccount = times.get(account)!;
      const part = engine.partOf(account);
      const ofPart = numbered.getOrInsertComputed(part, () => []);
      for (let from = 0; from < ofAccount.length; from += chargedMax) {
        const some = ofAccount.slice(from, from + chargedMax);
        const last = ofPart.at(-1);
        if (last !== undefined && isOpen(last, some.length))
          last.accounts.push({ account, times: some });
        else ofPart.push({ number: ++lastNumber, part, accounts: [{ account, times: some }] });
      }
    }
    times.clear();
    unnumbered = 0;
  };
  /** A charge that was sent once must not change. */
  const sentNumbers = new Set<number>();
  const isOpen = ({ number, accounts }: Debt, more: number) =>
    !sentNumbers.has(number) &&
    accounts.length < chargedAccountsMax &&
    accounts.reduce((sum, { times: some }) => sum + some.length, more) <= chargedMax;

  const payPart = async (ofPart: Debt[]) => {
    // One after the other: a later number would make an earlier one look done.
    for (let debt = ofPart[0]; debt !== undefined; debt = ofPart[0]) {
      sentNumbers.add(debt.number);
      const charge = chargeOf(debt);
      if (charge.accounts.length > 0) await engine.charge(charge);
      sentNumbers.delete(debt.number);
      // An attempt that was given up may have got here as well.
      if (ofPart[0] === debt) ofPart.shift();
    }
  };
  const chargeOf = ({ number, part, accounts }: Debt): Charge => {
    const now = clock.monotonicMicroseconds();
    return {
      instance,
      number,
      part,
      // What has left the day is owed no more.
      accounts: accounts
        .map(({ account, times: some }) => ({
          account,
          ages: some.map((time) => now - time).filter((age) => age < dayMicroseconds),
        }))
        .filter(({ ages }) => ages.length > 0),
    };
  };
  return {
    add(account) {
      const now = clock.monotonicMicroseconds();
      const ofAccount = times.getOrInsertComputed(account, () => []);
      ofAccount.push(now);
      unnumbered++;
      while (now - ofAccount[0]! >= dayMicroseconds) {
        ofAccount.shift();
        unnumbered--;
      }
    },
    count: () => unnumbered + numbered.values().reduce((sum, ofPart) => sum + ofPart.length, 0),
    async pay() {
      numberAll();
      await Promise.all([...numbered.values()].map(payPart));
    },
  };
}
