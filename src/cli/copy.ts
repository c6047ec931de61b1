/** `gp-records copy`: moves the whole installation into a database or a folder, while it serves but for its last moment. */
import { resolve } from "node:path";
import type { Command } from "commander";
import { type Config, readConfig } from "#config.ts";
import type { Copied } from "#copy/copy-installation.ts";
import { systemClock } from "#limits/clocks.ts";
import { CommandFault, exitCodes } from "./command-fault.ts";
import type { CliContext } from "./context.ts";
import { dataFolderFault } from "./datasets-folder.ts";
import { jsonOption, type OutputOptions, printResult } from "./output.ts";

interface CopyOptions extends OutputOptions {
  undo?: boolean;
  force?: boolean;
}

export function addCopyCommand(program: Command, context: CliContext): void {
  program
    .command("copy")
    .description(
      "move the installation to where COPY_TO says, a database or a folder; it serves until the last moment, and then no more",
    )
    .option("--undo", "let the installation that was being moved serve again")
    .option("--force", "with --undo: also after the move was done")
    .option(...jsonOption)
    .action(async (options: CopyOptions) => {
      const config = readConfig(context.environment);
      if (options.force === true && options.undo !== true)
        throw new CommandFault(exitCodes.usage, "--force belongs to --undo.");
      await (options.undo === true ? undo : copy)(context, config, options);
    });
}

async function copy(context: CliContext, config: Config, options: CopyOptions): Promise<void> {
  const { dataDir, databaseUrl, countersUrl, copyTo, copyCountersTo } = config;
  if (copyTo === null)
    throw new CommandFault(
      exitCodes.usage,
      "COPY_TO is not set: it says where to, as postgres://user:password@db.example:5432/records or as the path of a folder; COPY_TO_FILE names a file with it.",
    );
  const { copyInstallation } = await import("#copy/copy-installation.ts");
  const warn = (sentence: string) => context.reportError(`warning: ${sentence}.`);
  let isStopped = false;
  const copied = await copyInstallation({
    source: { dataDir, databaseUrl, countersUrl },
    target: { ...copyTo, countersUrl: copyCountersTo },
    now: context.now,
    clock: systemClock(),
    onStep: (step) => options.json !== true && context.reportError(`copying: ${step}`),
    onStopped: () => (isStopped = true),
    onWarning: warn,
  }).catch((error: unknown) => {
    if (isStopped)
      warn(
        "the installation is not served any more: `gp-records copy` again finishes the move, `gp-records copy --undo` takes it back",
      );
    throw copyTo.dataDir !== null && isBelow(error, resolve(copyTo.dataDir))
      ? dataFolderFault(error, copyTo.dataDir, "COPY_TO")
      : dataFolderFault(error, dataDir);
  });
  printResult(context, options, copiedJson(copied), () => copiedText(copied, config));
}

const isBelow = (error: unknown, folder: string) =>
  (error as NodeJS.ErrnoException).path?.startsWith(folder) === true;

async function undo(
  context: CliContext,
  { dataDir, databaseUrl, countersUrl }: Config,
  options: CopyOptions,
): Promise<void> {
  const { undoCopy } = await import("#copy/copy-installation.ts");
  const installation = { dataDir, databaseUrl, countersUrl };
  const { source, other } = await undoCopy(installation, options.force === true).catch(
    (error: unknown) => {
      throw dataFolderFault(error, dataDir);
    },
  );
  printResult(
    context,
    options,
    { outcome: "undone", from: source, to: other },
    () =>
      `${source} may serve again: restart its servers. What was copied to ${other} is of no use any more; remove it.`,
  );
}

const copiedJson = (copied: Copied | null): object =>
  copied === null
    ? { outcome: "done_before" }
    : {
        outcome: "moved",
        from: copied.from,
        to: copied.to,
        dataset: copied.datasets.current,
        datasets: copied.datasets.datasets,
        dataset_bytes: copied.datasets.bytes,
        publications: copied.datasets.publications,
        tables: copied.tables,
        logged_requests: copied.requests,
        counted_requests: copied.counted,
        stopped_milliseconds: Math.round(copied.stoppedMilliseconds),
      };

function copiedText(copied: Copied | null, { copyTo, copyCountersTo }: Config): string {
  const settings = [
    copyTo!.databaseUrl === null
      ? `DATA_DIR=${copyTo!.dataDir}, and DATABASE_URL empty`
      : "DATABASE_URL as COPY_TO is, and DATA_DIR an empty folder on each machine",
    copyCountersTo === null ? "COUNTERS_URL empty" : "COUNTERS_URL as COPY_COUNTERS_TO is",
  ];
  const next = `Start the servers with ${settings.join(", ")}.`;
  if (copied === null) return `All had been copied, and may be served now. ${next}`;
  const { from, to, datasets, tables, requests, counted, stoppedMilliseconds } = copied;
  const number = (value: number) => value.toLocaleString("en-US");
  return [
    `Moved ${from} to ${to}. Nobody was served for ${number(Math.round(stoppedMilliseconds))} ms.`,
    `Datasets: ${datasets.datasets}, ${number(datasets.bytes)} bytes; ${datasets.current ?? "none"} is current. Publications: ${number(datasets.publications)}.`,
    `Rows, the same on both sides: ${tables.map(({ name, rows }) => `${name} ${number(rows)}`).join(", ")}.`,
    `Request log: ${number(requests)} requests.`,
    counted === null
      ? "Counts stay where they are."
      : `Counts: ${number(counted)} requests of the last day.`,
    next,
  ].join("\n");
}
