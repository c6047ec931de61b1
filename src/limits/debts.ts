/** Requests that this instance admitted while the shared counters were away, to be charged there later. */
import { randomUUID } from "node:crypto";
import type { Clock } from "./clocks.ts";
import type { Charge, Engine } from "./engine.ts";
import { dayMicroseconds } from "./sliding-log.ts";

/** Maximum number of requests, and of accounts, in one charge. */
const chargedMax = 1000;
const chargedAccountsMax = 128;

interface Debts {
  /** Adds a request admitted now. */
  add(account: number): void;
  count(): number;
  /** Charges all of them. A charge that fails is sent again by the next call, under the same number. */
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
  /** Numbered debts by part, oldest first. */
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
  /** Numbers of charges that were sent; those must not change any more. */
  const sentNumbers = new Set<number>();
  const isOpen = ({ number, accounts }: Debt, more: number) =>
    !sentNumbers.has(number) &&
    accounts.length < chargedAccountsMax &&
    accounts.reduce((sum, { times: some }) => sum + some.length, more) <= chargedMax;

  const payPart = async (ofPart: Debt[]) => {
    // One after the other, because a later number would make an earlier one look done.
    for (let debt = ofPart[0]; debt !== undefined; debt = ofPart[0]) {
      sentNumbers.add(debt.number);
      const charge = chargeOf(debt);
      if (charge.accounts.length > 0) await engine.charge(charge);
      sentNumbers.delete(debt.number);
      // An attempt that was given up may have removed it already.
      if (ofPart[0] === debt) ofPart.shift();
    }
  };
  const chargeOf = ({ number, part, accounts }: Debt): Charge => {
    const now = clock.monotonicMicroseconds();
    return {
      instance,
      number,
      part,
      // Requests older than a day no longer count.
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
