/** Programs that a run needs beside Node. */
import { spawnSync } from "node:child_process";

/** One of them is not there; the message says how to get it. */
export class NotInstalled extends Error {}

/**
 * Returns the name of a program that is there.
 * @throws NotInstalled
 */
export function findProgram(name: string, debianPackage: string): string {
  if (spawnSync(name, ["--version"], { stdio: "ignore" }).error === undefined) return name;
  throw new NotInstalled(`${name} is not installed here: apt-get install ${debianPackage}`);
}

/**
 * Returns why what is looked for cannot be started here; null where it can.
 * @throws Error in CI: there what is skipped would look like what has passed.
 */
export function whyNot(find: () => unknown): string | null {
  try {
    find();
    return null;
  } catch (error) {
    if (!(error instanceof NotInstalled) || process.env["CI"]) throw error;
    return `skipped: ${error.message}`;
  }
}
