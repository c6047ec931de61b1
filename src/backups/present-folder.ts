/** What stands in the data folder before a restore: whether anything does, and what its keys are. */
import { copyFileSync, existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { StoreFault } from "#store/domain-error.ts";
import { sqliteFault } from "#store/sqlite-fault.ts";
import { type ControlFacts, readControlFacts } from "./control-facts.ts";
import { restoredNames } from "./restore-folders.ts";

/** The names of what a restore would replace; an empty folder of datasets or counts is nothing. */
export const presentNames = (dataDir: string): string[] =>
  restoredNames.filter((name) => {
    const stats = statSync(join(dataDir, name), { throwIfNoEntry: false });
    return stats?.isDirectory() === true
      ? readdirSync(join(dataDir, name)).length > 0
      : stats !== undefined;
  });

/** `unreadable` where there is a database of keys that is damaged. @throws StoreFault `busy` where somebody uses it. */
export function presentControl(dataDir: string): ControlFacts | "none" | "unreadable" {
  const file = join(dataDir, "control.sqlite");
  if (!existsSync(file)) return "none";
  try {
    return readControlFacts(file);
  } catch (error) {
    const fault = sqliteFault(error, file);
    if (fault instanceof StoreFault && fault.kind === "busy") throw fault;
    return "unreadable";
  }
}

/** Counts are by the number of an account, so they hold only where both sides gave the numbers alike. */
export function hasSameNumbers(present: ControlFacts, backup: ControlFacts): boolean {
  const numbers = new Map([...present.accounts.values()].map(({ number, id }) => [number, id]));
  return [...backup.accounts.values()].every(
    ({ number, id }) => (numbers.get(number) ?? id) === id,
  );
}

/** What was used of the quotas stays used, so that nobody gains by a restore. */
export function copyCounts(dataDir: string, folder: string): void {
  const counts = join(dataDir, "counts");
  if (!existsSync(counts)) return;
  for (const name of readdirSync(counts)) copyFileSync(join(counts, name), join(folder, name));
}
