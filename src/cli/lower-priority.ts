/** A command that is long at work makes way for whoever wants the processor: it has time, and who asks meanwhile has not. */
import { readConfig } from "#config.ts";
import { leaveCore, standBack } from "#datasets/priority.ts";
import { serverLock } from "#doctor/locks.ts";
import type { Surroundings } from "./context.ts";

type Environment = Surroundings["environment"];

export function makeWay(environment: Environment): void {
  standBack();
  // Without a server nobody waits for a core, and with all of them the work is done sooner.
  if (isServed(environment)) leaveCore();
}

function isServed(environment: Environment): boolean {
  try {
    return serverLock(readConfig(environment).dataDir) !== null;
  } catch {
    // What is wrong with the settings or the folder is for the command to say.
    return false;
  }
}
