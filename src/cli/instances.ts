/** `gp-records instances`: the servers that share datasets, and what each of them serves. */
import type { Command } from "commander";
import { readConfig } from "#config.ts";
import type { CliContext } from "./context.ts";
import { CommandFault, exitCodes } from "./command-fault.ts";
import { openDatasets } from "./datasets-folder.ts";
import { jsonOption, type OutputOptions, printResult, table, timeText } from "./output.ts";

export function addInstancesCommand(program: Command, context: CliContext): void {
  program
    .command("instances")
    .description("the servers on the database that DATABASE_URL names, and what each one serves")
    .option(...jsonOption)
    .action(async (options: OutputOptions) => {
      const { dataDir, databaseUrl } = readConfig(context.environment);
      if (databaseUrl === null)
        throw new CommandFault(
          exitCodes.usage,
          "DATABASE_URL is not set: a server that keeps its datasets in DATA_DIR shares them with no other.",
        );
      const { listInstances } = await import("#datasets/shared-datasets.ts");
      const instances = await listInstances(databaseUrl, openDatasets(dataDir).folder);
      const rows = instances.map((one) => ({
        id: one.id,
        host: one.host,
        pid: one.pid,
        live: one.isLive,
        seen_at: one.seenAt,
        started_at: one.startedAt,
        program: one.program,
        formats: one.formats,
        served: one.served,
      }));
      printResult(context, options, rows, () =>
        rows.length === 0
          ? "No server was seen within a day."
          : table(
              ["host", "process", "state", "seen", "program", "formats", "serves"],
              rows.map((row) => [
                row.host,
                String(row.pid),
                row.live ? "running" : "not seen",
                timeText(row.seen_at),
                row.program,
                row.formats.join(", "),
                row.served ?? "-",
              ]),
            ),
      );
    });
}
