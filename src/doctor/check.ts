/** What a check is, what its findings are made of, and how all checks are run. A check changes nothing. */
import { resolve } from "node:path";
import { type Config, ConfigFault, readConfig } from "#config.ts";
import type { EnvironmentFile } from "#config/environment-file.ts";

export type Status = "ok" | "warn" | "fail";

export interface Finding {
  status: Status;
  /** What was found, naming the path, setting or process. */
  found: string;
  /** The command or step that puts it right; null where nothing has to be. */
  mend: string | null;
}

export interface Check {
  name: string;
  /** Returns no finding where there is nothing to check; an error it throws becomes a failed one. */
  look(examined: Examined): readonly Finding[] | Promise<readonly Finding[]>;
}

/** What all checks look at. */
export interface Examined {
  /** Absolute; it need not be there. */
  dataDir: string;
  environment: Readonly<Record<string, string | undefined>>;
  /** The file that some of the environment was read from; null where there is none. */
  environmentFile: EnvironmentFile | null;
  /** Null where a setting is wrong; `configFaults` names it. */
  config: Config | null;
  configFaults: readonly string[];
}

export const ok = (found: string): Finding => ({ status: "ok", found, mend: null });
export const warn = (found: string, mend: string): Finding => ({ status: "warn", found, mend });
export const fail = (found: string, mend: string): Finding => ({ status: "fail", found, mend });

/** The faults, or where there are none, that all is well. */
export const faultsOr = (faults: readonly Finding[], well: string): readonly Finding[] =>
  faults.length > 0 ? faults : [ok(well)];

export interface Result extends Finding {
  check: string;
}

type Given = Pick<Examined, "environment" | "environmentFile">;

/** Runs every check, one after the other; one that throws does not stop the others. */
export async function examine(checks: readonly Check[], given: Given): Promise<Result[]> {
  const examined = { ...given, ...readSettings(given.environment) };
  const results: Result[] = [];
  for (const check of checks)
    for (const finding of await lookSafely(check, examined))
      results.push({ check: check.name, ...finding });
  return results;
}

/** Where a setting is wrong the data folder can still be checked: any text names one. */
function readSettings(environment: Given["environment"]) {
  const dataDirOf = (config: Config) => resolve(config.dataDir);
  try {
    const config = readConfig(environment);
    return { config, configFaults: [], dataDir: dataDirOf(config) };
  } catch (error) {
    if (!(error instanceof ConfigFault)) throw error;
    const { DATA_DIR } = environment;
    return {
      config: null,
      configFaults: error.faults,
      dataDir: dataDirOf(readConfig({ DATA_DIR })),
    };
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
        : "Mend what the other lines name, then run doctor again.";
    return [fail(`could not be checked: ${message}`, mend)];
  }
}
