/** Lowers the CPU priority of a long-running command, and its CPU affinity while a server runs on the same data folder. */
import { readConfig } from "#config.ts";
import { avoidFirstCore, lowerProcessPriority } from "#datasets/priority.ts";
import { serverLock } from "#doctor/locks.ts";
import type { CliContext } from "./context.ts";

type Environment = CliContext["environment"];

export function lowerPriority(environment: Environment): void {
  lowerProcessPriority();
  // Without a server the command may use all cores and is done sooner.
  if (isServed(environment)) avoidFirstCore();
}

function isServed(environment: Environment): boolean {
  try {
    return serverLock(readConfig(environment).dataDir) !== null;
  } catch {
    // The command itself reports what is wrong with the settings or the folder.
    return false;
  }
}
