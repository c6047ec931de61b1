/** `gp-records import`: replaces what is published of one source by the records in its files. */
import { InvalidArgumentError, type Command } from "commander";
import type { ImportResult } from "#datasets/publish.ts";
import type { RejectedMax } from "#datasets/rejections.ts";
import type { SourceEntry } from "#records/source-entry.ts";
import { CommandFault } from "./command-fault.ts";
import { dataDirOf } from "./data-dir.ts";
import { dataFolderFault, openDatasets, takeImportLock } from "./datasets-folder.ts";
import { exitCodes } from "./exit-codes.ts";
import { importJson, importText } from "./import-report.ts";
import { jsonOption, type OutputOptions, printResult } from "./output.ts";
import { showProgress } from "./progress.ts";
import type { Surroundings } from "./surroundings.ts";

interface ImportOptions extends OutputOptions {
  source: string;
  map?: string;
  dryRun?: boolean;
  maxRejected?: RejectedMax;
}

type Entries = AsyncIterable<SourceEntry>;

export function addImportCommands(program: Command, surroundings: Surroundings): void {
  const family = program
    .command("import")
    .description("replace what is published of one source by the records in its files");
  addImport(
    family,
    "ndjson",
    "canonical records, one JSON object a line (docs/importing.md)",
  ).action((files: string[], options: ImportOptions) =>
    runImport(surroundings, options, () => openNdjson(files)),
  );
  addImport(family, "csv", "rows of a table, through a mapping file (docs/importing.md)")
    .requiredOption("--map <file>", "the mapping from columns to records")
    .action((files: string[], options: ImportOptions) =>
      runImport(surroundings, options, () => openCsv(files, options.map!)),
    );
}

function addImport(family: Command, format: string, description: string): Command {
  return family
    .command(format)
    .description(description)
    .argument("<files...>", "files of the source, read in this order")
    .requiredOption("--source <name>", "name of the source whose records are replaced")
    .option("--dry-run", "tell what would change and change nothing")
    .option(
      "--max-rejected <n>",
      "publish although up to so many lines, or so many per cent (5%), are rejected",
      parseRejectedMax,
    )
    .option(...jsonOption);
}

async function openNdjson(files: readonly string[]): Promise<Entries> {
  const { readNdjson } = await import("#importers/ndjson.ts");
  return readNdjson(files);
}

async function openCsv(files: readonly string[], mappingFile: string): Promise<Entries> {
  const { readMapping } = await import("#importers/read-mapping.ts");
  const { readCsv } = await import("#importers/csv.ts");
  return readCsv(files, await readMapping(mappingFile));
}

/** What an import needs is loaded here: no other command should wait for it. */
async function runImport(
  surroundings: Surroundings,
  options: ImportOptions,
  open: () => Promise<Entries>,
): Promise<void> {
  const { demoSource, importSource, sourceFault } = await import("#datasets/publish.ts");
  const { source } = options;
  refuseSource(
    source,
    source === demoSource
      ? "is the name of the invented records; choose another"
      : sourceFault(source),
  );
  const dataDir = dataDirOf(surroundings);
  const catalogue = openDatasets(dataDir);
  const lock = takeImportLock(dataDir);
  const progress = showProgress("lines read");
  try {
    const result = await importSource(catalogue, {
      source,
      entries: await open(),
      rejectedMax: options.maxRejected ?? { lines: 0 },
      isDryRun: options.dryRun === true,
      nowMilliseconds: surroundings.now(),
      onRead: progress.show,
    });
    progress.clear();
    report(surroundings, options, result);
  } catch (error) {
    throw dataFolderFault(error, dataDir);
  } finally {
    progress.clear();
    lock.release();
  }
}

function report(surroundings: Surroundings, options: ImportOptions, result: ImportResult): void {
  printResult(surroundings, options, importJson(options.source, result), () =>
    importText(options.source, result),
  );
  if (result.outcome !== "refused") return;
  const { read, rejections } = result.collected;
  throw new CommandFault(
    exitCodes.inputRefused,
    read === 0 || rejections.count === 0
      ? "The files hold no record; nothing was published."
      : `${rejections.count} of ${read} lines were rejected; nothing was published. Mend them, or allow some with --max-rejected.`,
  );
}

function refuseSource(name: string, fault: string | undefined): void {
  if (fault === undefined) return;
  throw new CommandFault(
    exitCodes.usage,
    `option '--source <name>' argument '${name}' is invalid. It ${fault}.`,
  );
}

function parseRejectedMax(text: string): RejectedMax {
  const [, count, percent] = /^(\d{1,9})(%?)$/.exec(text) ?? [];
  if (count === undefined || (percent === "%" && Number(count) > 100))
    throw new InvalidArgumentError(
      "Write a number of lines, such as 20, or a share of those read, such as 5%.",
    );
  return percent === "%" ? { percent: Number(count) } : { lines: Number(count) };
}
