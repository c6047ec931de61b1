/** A machine with a folder for the journal, on which a test starts and kills counters. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { openMemoryCounters } from "#limits/memory-counters.ts";
import type { Quotas } from "#limits/policy.ts";
import { clockOf, openWorld, temporaryFolder } from "./limits-world.ts";

export const quotas: Quotas = { minute: 10, hour: 100, day: 1000 };

/** Counters that are not closed stand for a process that was killed; they are closed when the test is over. */
export function beginJournal(t: TestContext) {
  const world = openWorld();
  const dir = temporaryFolder(t);
  const faults: (string | null)[] = [];
  const open = (onFault = (fault: Error | null) => void faults.push(fault?.message ?? null)) => {
    const counters = openMemoryCounters({ dir, clock: clockOf(world), onFault });
    t.after(() => counters.close());
    /** Without keeping it. */
    const count = (account: number) => counters.take(account, quotas).admitted;
    const takeOne = (account: number) => {
      const quotaStatus = counters.take(account, quotas);
      counters.commit();
      return quotaStatus;
    };
    const take = (count = 1, account = 1) =>
      Array.from({ length: count }, () => takeOne(account)).filter(({ admitted }) => admitted)
        .length;
    const counted = (account = 1) => quotas.day - 1 - takeOne(account).windows[2]!.remaining;
    return { ...counters, take, count, counted };
  };
  const files = () => readdirSync(join(dir, "counts")).sort();
  const path = (index: number) => join(dir, "counts", files().at(index)!);
  return { world, dir, faults, open, files, path };
}
