/** Opens the stores that DATA_DIR and DATABASE_URL name, for as long as a command works with them. */
import { finishRestore } from "#backups/restore-folders.ts";
import { type Config, readConfig } from "#config.ts";
import { refuseMovedFolder } from "#store/move-mark.ts";
import type { ControlStore, UsageStore } from "#store/stores.ts";
import { CommandFault, exitCodes } from "./command-fault.ts";
import type { CliContext } from "./context.ts";

/** @throws ConfigFault if any setting is wrong. */
export const dataDirOf = ({ environment }: CliContext): string => readConfig(environment).dataDir;

/**
 * For what works on the files of DATA_DIR, and would leave out all that is in a database, or put files where no server reads them.
 * @param sentence what was not done, ending in the place's preposition, such as "No backup was made: all is in".
 * @throws CommandFault where DATABASE_URL is set.
 */
export async function refuseDatabase(
  { environment }: CliContext,
  sentence: string,
  advice: string,
): Promise<void> {
  const { databaseUrl } = readConfig(environment);
  if (databaseUrl === null) return;
  const { placeName } = await import("#store/postgres.ts");
  throw new CommandFault(exitCodes.conflict, `${sentence} ${placeName(databaseUrl)}. ${advice}`);
}

/** Creates the store and migrates its schema if needed, unless it is a database. What opens a store is loaded here, for a server needs none of it. */
export async function withControl<R>(
  context: CliContext,
  work: (control: ControlStore) => Promise<R>,
): Promise<R> {
  const { openControl } = await import("#store/stores.ts");
  const config = settledConfig(context);
  const control = await openControl(config.dataDir, config);
  try {
    return await work(control);
  } finally {
    await control.close();
  }
}

export async function withUsage<R>(
  context: CliContext,
  work: (usage: UsageStore) => Promise<R>,
): Promise<R> {
  const { openUsage } = await import("#store/stores.ts");
  const config = settledConfig(context);
  const usage = await openUsage(config.dataDir, config);
  try {
    return await work(usage);
  } finally {
    await usage.close();
  }
}

/**
 * Finishes a restore that was killed half-way, before anybody reads or writes a store.
 * @throws MovedAway for a folder whose installation is being moved.
 */
function settledConfig({ environment }: CliContext): Config {
  const config = readConfig(environment);
  finishRestore(config.dataDir);
  if (config.databaseUrl === null) refuseMovedFolder(config.dataDir);
  return config;
}
