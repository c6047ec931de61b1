/** Opens the stores of the data folder that DATA_DIR names, for as long as a command works with them. */
import { finishRestore } from "#backups/restore-folders.ts";
import { readConfig } from "#config.ts";
import type { ControlStore, UsageStore } from "#store/stores.ts";
import type { CliContext } from "./context.ts";

/** @throws ConfigFault if any setting is wrong. */
export const dataDirOf = ({ environment }: CliContext): string => readConfig(environment).dataDir;

/** Creates the store and migrates its schema if needed. What opens a store is loaded here, for a server needs none of it. */
export async function withControl<R>(
  context: CliContext,
  work: (control: ControlStore) => Promise<R>,
): Promise<R> {
  const { openControl } = await import("#store/stores.ts");
  const control = await openControl(settledDir(context));
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
  const usage = await openUsage(settledDir(context));
  try {
    return await work(usage);
  } finally {
    await usage.close();
  }
}

/** Finishes a restore that was killed half-way, before anybody reads or writes a store. */
function settledDir(context: CliContext): string {
  const dataDir = dataDirOf(context);
  finishRestore(dataDir);
  return dataDir;
}
