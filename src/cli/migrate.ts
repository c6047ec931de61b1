/** `gp-records migrate`: brings the schema of the accounts and keys up to date. */
import type { Command } from "commander";
import { readConfig } from "#config.ts";
import type { CliContext } from "./context.ts";
import { withControl } from "./data-dir.ts";
import { jsonOption, type OutputOptions, printResult } from "./output.ts";

export function addMigrateCommand(program: Command, context: CliContext): void {
  program
    .command("migrate")
    .description(
      "bring the schema of DATABASE_URL up to date, which nothing else does; a file in DATA_DIR is brought so at each start, too",
    )
    .option(...jsonOption)
    .action(async (options: OutputOptions) => {
      const { databaseUrl, dataDir } = readConfig(context.environment);
      if (databaseUrl === null) {
        await withControl(context, async () => {});
        return printResult(context, options, { engine: "sqlite", steps: [] }, () => {
          return `DATABASE_URL is not set: accounts and keys are in ${dataDir}, and up to date.`;
        });
      }
      const { migratePostgres } = await import("#store/postgres-schema.ts");
      const { placeName } = await import("#store/postgres.ts");
      const steps = await migratePostgres({ url: databaseUrl });
      printResult(context, options, { engine: "postgresql", steps }, () =>
        steps.length === 0
          ? `${placeName(databaseUrl)} is up to date.`
          : `${placeName(databaseUrl)} is up to date: it took ${steps.join(", ")}.`,
      );
    });
}
