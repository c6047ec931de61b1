/** Makes every check, one after the other, whatever one of them comes to. */
import { resolve } from "node:path";
import { ConfigFault, readConfig, type Config } from "#config.ts";
import { type Check, type Examined, fail, type Finding } from "./check.ts";

export interface Result extends Finding {
  check: string;
}

type Given = Pick<Examined, "environment" | "environmentFile" | "program" | "now" | "isThorough">;

export async function examine(checks: readonly Check[], given: Given): Promise<Result[]> {
  const examined = { ...given, ...readSettings(given.environment) };
  const results: Result[] = [];
  for (const check of checks)
    for (const finding of await lookSafely(check, examined))
      results.push({ check: check.name, ...finding });
  return results;
}

/** Where a setting is wrong the folder can be looked at still: any text names one. */
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
