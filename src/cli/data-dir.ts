/** Opens the stores of the data folder that DATA_DIR names, for as long as a command works with them. */
import { readConfig } from "#config.ts";
import { type ControlStore, openControl, openUsage, type UsageStore } from "#store/stores.ts";
import type { Surroundings } from "./surroundings.ts";

/** @throws ConfigFault if any setting is wrong. */
export const dataDirOf = ({ environment }: Surroundings): string => readConfig(environment).dataDir;

/** The folder is made, and its schema brought up to date, if need be. */
export async function withControl<R>(
  surroundings: Surroundings,
  work: (control: ControlStore) => Promise<R>,
): Promise<R> {
  const control = await openControl(dataDirOf(surroundings));
  try {
    return await work(control);
  } finally {
    await control.close();
  }
}

export async function withUsage<R>(
  surroundings: Surroundings,
  work: (usage: UsageStore) => Promise<R>,
): Promise<R> {
  const usage = await openUsage(dataDirOf(surroundings));
  try {
    return await work(usage);
  } finally {
    await usage.close();
  }
}
