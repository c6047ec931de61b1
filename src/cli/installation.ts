/**
 * `gp-records doctor` checks an installation, and says how to fix each fault; `gp-records migrate` brings the schema of
 * the database, or of the file for accounts and keys, up to date.
 */
import { readConfig } from "#config.ts";
import type { Finding } from "#doctor/check.ts";
import { counted } from "#words.ts";
import { command } from "./command.ts";
import { CommandFault, exitCodes } from "./command-fault.ts";
import { withControl } from "./data-dir.ts";
import { onOneLine } from "./output.ts";

export const doctorCommand = command({
  name: "doctor",
  description:
    "check settings, data folder and machine, and say how to fix what is wrong; changes nothing",
  example: "doctor",
  run: async (_, { environment, environmentFile = null }) => {
    const { examine } = await import("#doctor/check.ts");
    const { checks } = await import("#doctor/index.ts");
    return examine(checks, { environment, environmentFile });
  },
  json: (results) => ({ healthy: failedOf(results) === 0, checks: results }),
  /** Returns a line for each finding, with its remedy, if any, on the line below. */
  text: (results) => {
    const width = Math.max(...results.map(({ check }) => check.length));
    return results
      .flatMap(({ status, check, found, mend }) => [
        `${status.padEnd(4)}  ${check.padEnd(width)}  ${onOneLine(found)}`,
        ...(mend === null ? [] : [`${" ".repeat(width + 8)}→ ${onOneLine(mend)}`]),
      ])
      .join("\n");
  },
  fault: (results) => {
    const failed = failedOf(results);
    const words = `Found ${counted(failed, "thing")} to fix.`;
    return failed === 0 ? null : new CommandFault(exitCodes.unhealthy, words);
  },
});

const failedOf = (results: readonly Finding[]): number =>
  results.filter(({ status }) => status === "fail").length;

export const migrateCommand = command({
  name: "migrate",
  description:
    "bring the schema of DATABASE_URL up to date, which no other command does; files in DATA_DIR are updated at each start",
  example: "migrate",
  run: async (_, context) => {
    const { databaseUrl, dataDir } = readConfig(context.environment);
    if (databaseUrl === null) {
      await withControl(context, async () => {});
      return { engine: "sqlite", steps: [], place: dataDir };
    }
    const { migratePostgres } = await import("#store/postgres-schema.ts");
    const { placeName } = await import("#store/postgres.ts");
    const steps = await migratePostgres(databaseUrl);
    return { engine: "postgresql", steps, place: placeName(databaseUrl) };
  },
  json: ({ engine, steps }) => ({ engine, steps }),
  text: ({ engine, steps, place }) => {
    if (engine === "sqlite")
      return `DATABASE_URL is not set, so accounts and keys are in ${place}. Their tables are up to date.`;
    return steps.length === 0
      ? `The schema of ${place} is up to date.`
      : `The schema of ${place} is up to date: applied ${steps.join(", ")}.`;
  },
});
