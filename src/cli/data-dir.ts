/** Opens the stores that DATA_DIR and DATABASE_URL name, for as long as a command works with them. */
import { finishRestore } from "#backups/restore-folders.ts";
import { type Config, readConfig } from "#config.ts";
import type { ControlStore, UsageStore } from "#store/stores.ts";
import type { CliContext } from "./command.ts";

/** @throws ConfigFault if any setting is wrong. */
export const dataDirOf = ({ environment }: CliContext): string => readConfig(environment).dataDir;

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

/** Finishes a restore that was killed half-way, before anybody reads or writes a store. */
function settledConfig({ environment }: CliContext): Config {
  const config = readConfig(environment);
  finishRestore(config.dataDir);
  return config;
}
