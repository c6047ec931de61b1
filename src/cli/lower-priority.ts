/** A command that is long at work makes way for whoever wants the processor: it has time, and who asks meanwhile has not. */
import { readConfig } from "#config.ts";
import { leaveFirstCore, lowerProcessPriority } from "#datasets/priority.ts";
import { serverLock } from "#doctor/locks.ts";
import type { CliContext } from "./context.ts";

type Environment = CliContext["environment"];

export function lowerPriority(environment: Environment): void {
  lowerProcessPriority();
  // Without a server nobody waits for a core, and with all of them the work is done sooner.
  if (isServed(environment)) leaveFirstCore();
}

function isServed(environment: Environment): boolean {
  try {
    return serverLock(readConfig(environment).dataDir) !== null;
  } catch {
    // What is wrong with the settings or the folder is for the command to say.
    return false;
  }
}
