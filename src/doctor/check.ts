/** Runs doctor's checks, and defines their findings. A check changes nothing. */
import { resolve } from "node:path";
import { ConfigFault, readConfig } from "#config.ts";
import type { EnvironmentFile } from "#config/environment-file.ts";

export type Status = "ok" | "warn" | "fail";

export interface Finding {
  status: Status;
  /** Words for what was found, such as `is local`. */
  found: string;
  /** Command or step that fixes the problem; null if nothing is wrong. */
  mend: string | null;
}

export interface Check {
  name: string;
  /** Returns findings, or none if there is nothing to check. A thrown error becomes a failed finding. */
  look(examined: Examined): readonly Finding[] | Promise<readonly Finding[]>;
}

interface Given {
  environment: Readonly<Record<string, string | undefined>>;
  /** The `.env` file, whether it was read or ignored; null if there is none. */
  environmentFile: EnvironmentFile | null;
}

/** Facts that the checks examine. `config` is null if a setting is wrong; `configFaults` then says what is wrong. */
export type Examined = Given & ReturnType<typeof readSettings>;

export const ok = (found: string): Finding => ({ status: "ok", found, mend: null });
export const warn = (found: string, mend: string): Finding => ({ status: "warn", found, mend });
export const fail = (found: string, mend: string): Finding => ({ status: "fail", found, mend });

/** Returns the faults, or one finding that all is well if there are none. */
export const faultsOr = (faults: readonly Finding[], well: string): readonly Finding[] =>
  faults.length > 0 ? faults : [ok(well)];

/** Runs all checks, one after another. A check that throws does not stop the others. */
export async function examine(checks: readonly Check[], given: Given) {
  const examined = { ...given, ...readSettings(given.environment) };
  const results: (Finding & { check: string })[] = [];
  for (const check of checks)
    for (const finding of await lookSafely(check, examined))
      results.push({ check: check.name, ...finding });
  return results;
}

/**
 * Reads the settings. Returns the data folder's absolute path even if another setting is wrong, because any text
 * is valid as DATA_DIR. The folder need not exist.
 */
function readSettings(environment: Given["environment"]) {
  const { DATA_DIR } = environment;
  const dataDir = resolve(readConfig({ DATA_DIR }).dataDir);
  try {
    return { config: readConfig(environment), configFaults: [], dataDir };
  } catch (error) {
    if (!(error instanceof ConfigFault)) throw error;
    return { config: null, configFaults: error.faults, dataDir };
  }
}

async function lookSafely(check: Check, examined: Examined): Promise<readonly Finding[]> {
  try {
    return await check.look(examined);
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    const mend =
      code === "EACCES" || code === "EPERM"
        ? "Run doctor as the user who owns DATA_DIR."
        : "Correct what the message names and any faults in the other lines, then run doctor again.";
    return [fail(`could not be checked: ${message}`, mend)];
  }
}
