/** Opens the stores of the data folder that DATA_DIR names, for as long as a command works with them. */
import { finishRestore } from "#backups/restore-folders.ts";
import { readConfig } from "#config.ts";
import type { ControlStore, UsageStore } from "#store/stores.ts";
import type { CliContext } from "./context.ts";

/** @throws ConfigFault if any setting is wrong. */
export const dataDirOf = ({ environment }: CliContext): string => readConfig(environment).dataDir;

// A server has use of this file, and none of what opens a store to change it.

/** The folder is made, and its schema brought up to date, if need be. */
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

/** A restore that was killed half-way is finished before anybody reads or writes a store. */
function settledDir(context: CliContext): string {
  const dataDir = dataDirOf(context);
  finishRestore(dataDir);
  return dataDir;
}
