/** `gp-records export`: writes the records of a dataset into files for other programs. */
import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { readConfig } from "#config.ts";
import type { Datasets } from "#datasets/datasets.ts";
import { isNoRoom } from "#datasets/disk-space.ts";
import { idPrefixes } from "#datasets/format.ts";
import { type ExportedFile, fileFormats, runExport, workbookFormat } from "#exports/run-export.ts";
import type { RecordKind } from "#records/kinds.ts";
import { CommandFault, exitCodes } from "./command-fault.ts";
import type { CliContext } from "./context.ts";
import { lookAtDatasets } from "./datasets-folder.ts";
import { jsonOption, type OutputOptions, printResult, table } from "./output.ts";

const kinds = Object.keys(idPrefixes) as RecordKind[];
const formats = [...fileFormats, workbookFormat] as const;

interface ExportOptions extends OutputOptions {
  format: (typeof formats)[number];
  kind?: RecordKind[];
  version?: string;
  output?: string;
}

export function addExportCommand(program: Command, context: CliContext): void {
  program
    .command("export")
    .description("write the records of a dataset into files: one for each kind, or one workbook")
    .addOption(
      new Option("--format <format>", "of the files").choices(formats).makeOptionMandatory(),
    )
    .addOption(
      new Option("--kind <kinds...>", "only these records; all if left out").choices(kinds),
    )
    .option("--version <version>", "as `datasets list` shows it; the current one if left out")
    .option(
      "-o, --output <folder>",
      "made where it is not there; files of the same name are replaced (default: gp-records-VERSION)",
    )
    .option(...jsonOption)
    .action((options: ExportOptions) =>
      lookAtDatasets(context, async (datasets) => {
        const version = chosenVersion(datasets, options.version);
        await datasets.fetch(version);
        const folder = resolve(options.output ?? `gp-records-${version}`);
        const files = await exportTo(folder, context, datasets, version, options).catch(
          (error: unknown) => {
            throw folderFault(error, folder);
          },
        );
        printResult(context, options, { version, files }, () => textOf(version, files));
      }),
    );
}

function chosenVersion(datasets: Datasets, named: string | undefined): string {
  const version = named ?? datasets.currentVersion();
  if (version === null)
    throw new CommandFault(
      exitCodes.conflict,
      "There is no dataset yet; 'gp-records import' makes one.",
    );
  if (datasets.has(version)) return version;
  const there = datasets.versions();
  throw new CommandFault(
    exitCodes.conflict,
    there.length === 0
      ? `There is no dataset '${version}', and no other; 'gp-records import' makes one.`
      : `There is no dataset '${version}'. Those there are: ${there.join(", ")}.`,
  );
}

async function exportTo(
  folder: string,
  { environment }: CliContext,
  datasets: Datasets,
  version: string,
  { format, kind: chosen = kinds }: ExportOptions,
): Promise<ExportedFile[]> {
  mkdirSync(folder, { recursive: true });
  return runExport({
    path: datasets.pathOf(version),
    generation: datasets.find(version),
    // In the usual order, each once.
    kinds: kinds.filter((kind) => chosen.includes(kind)),
    format,
    folder,
    licence: readConfig(environment).licence,
  });
}

const textOf = (version: string, files: readonly ExportedFile[]) =>
  [
    `Dataset ${version}`,
    table(
      ["file", "records", "bytes", "sha-256"],
      files.map(({ file, records, bytes, sha256 }) => [
        file,
        records.toLocaleString("en-US"),
        bytes.toLocaleString("en-US"),
        sha256,
      ]),
    ),
  ].join("\n");

function folderFault(error: unknown, folder: string): unknown {
  const { code, syscall, path = folder } = error as NodeJS.ErrnoException;
  if (syscall === undefined) return error;
  if (isNoRoom(error))
    return new CommandFault(
      exitCodes.diskFull,
      `${path} cannot be written (${code}). Free some space on its disk, or name another folder with --output.`,
    );
  return new CommandFault(
    exitCodes.usage,
    `${path} cannot be used (${code}). Give this user write access to it, or name another folder with --output.`,
  );
}
