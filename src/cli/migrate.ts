/** `gp-records migrate`: brings the schema of the database, or of the file for accounts and keys, up to date. */
import { readConfig } from "#config.ts";
import { command } from "./command.ts";
import { withControl } from "./data-dir.ts";

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
