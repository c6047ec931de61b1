/** `gp-records import`: replaces what is published of one source by the records in its files, or merges them in. */
import { type Command, InvalidArgumentError, Option } from "commander";
import type { Datasets } from "#datasets/datasets.ts";
import type { ImportRequest, ImportResult } from "#datasets/publish.ts";
import type { RejectedMax } from "#datasets/rejections.ts";
import { type Encoding, encodings } from "#importers/encoding.ts";
import { CommandFault, exitCodes } from "./command-fault.ts";
import type { CliContext } from "./context.ts";
import { changeDatasets } from "./datasets-folder.ts";
import type { Cleared } from "./datasets-prune.ts";
import { importJson, importText } from "./import-report.ts";
import { jsonOption, type OutputOptions, printResult } from "./output.ts";
import { showProgress } from "./progress.ts";

/** What an import reads, opened once the import may begin. */
interface Input {
  /** Files of records, and of the mapping if there is one. */
  files: readonly string[];
  mapping: readonly string[];
  /** Whether everything read becomes records, so that their size can be estimated. */
  isWhole: boolean;
  open(): Promise<ImportRequest["entries"]>;
}

export function addImportCommands(program: Command, context: CliContext): void {
  const family = program
    .command("import")
    .description("replace what is published of one source by the records in its files");
  const add = (format: string, description: string) =>
    addImportOptions(family.command(format).description(description));
  add("ndjson", "canonical records, one JSON object a line (docs/importing.md)").action(
    (files: string[], options: ImportOptions) =>
      runImport(context, options, ndjsonInput(files, options)),
  );
  add("csv", "rows of a table, through a mapping file (docs/importing.md)")
    .requiredOption("--map <file>", "the mapping from columns to records")
    .action((files: string[], options: ImportOptions) =>
      runImport(context, options, csvInput(files, options)),
    );
}

const readOptions = ({ encoding, allowEmpty }: ImportOptions) => ({
  encoding,
  allowsEmpty: allowEmpty === true,
});

const ndjsonInput = (files: readonly string[], options: ImportOptions): Input => ({
  files,
  mapping: [],
  isWhole: true,
  async open() {
    const { draftNdjson } = await import("./draft-ndjson.ts");
    return { blocks: draftNdjson(files, readOptions(options), options.source) };
  },
});

const csvInput = (files: readonly string[], options: ImportOptions): Input => ({
  files,
  mapping: [options.map!],
  isWhole: false,
  async open() {
    const { readMapping } = await import("#importers/read-mapping.ts");
    const { readCsv } = await import("#importers/csv.ts");
    return readCsv(files, await readMapping(options.map!), readOptions(options));
  },
});

/** Loads what it needs here, so that no other command waits for it. */
async function runImport(
  context: CliContext,
  options: ImportOptions,
  { files, mapping, isWhole, open }: Input,
): Promise<void> {
  const { knownBytes, refuseUnreadable } = await import("#importers/source-file.ts");
  const { source } = options;
  await refuseSource(source);
  refuseTwice(files);
  refuseUnreadable([...mapping, ...files]);
  const progress = showProgress();
  const importInto = async (datasets: Datasets) => {
    const result = await datasets.importSource({
      source,
      entries: await open(),
      isMerge: options.merge === true,
      rejectedMax: options.maxRejected,
      shrinkPercentMax: options.maxShrink,
      allowsEmpty: options.allowEmpty === true,
      isDryRun: options.dryRun === true,
      isStaged: options.stage === true,
      knownBytes: isWhole ? knownBytes(files) : 0,
      nowMilliseconds: context.now(),
      onRead: (lines) => progress.show(lines, "lines read"),
      onWritten: (records) => progress.show(records, "records written"),
      onChecked: (records) => progress.show(records, "records checked"),
    });
    progress.clear();
    await notePublished(context, source, result);
    const cleared = await clearOld(context, datasets, result);
    const isMerge = options.merge === true;
    printResult(context, options, importJson(source, isMerge, result, cleared), () =>
      importText(source, result, cleared),
    );
    const refusal = importRefusal(source, result, options.maxShrink);
    if (refusal !== null) throw refusal;
  };
  try {
    await changeDatasets(context, importInto);
  } finally {
    progress.clear();
  }
}

async function notePublished(
  context: CliContext,
  source: string,
  { published, changes }: ImportResult,
): Promise<void> {
  if (published === null) return;
  const { noteChange } = await import("./note-change.ts");
  const { added, updated: changed, removed } = changes;
  const detail = { source, added, changed, removed };
  await noteChange(context, {
    action: "dataset.published",
    subject: published.version,
    detail,
  });
}

async function clearOld(
  context: CliContext,
  datasets: Datasets,
  { published }: ImportResult,
): Promise<Cleared> {
  if (published === null) return { versions: [], text: "" };
  const { pruneAfterPublication } = await import("./datasets-prune.ts");
  return pruneAfterPublication(context, datasets);
}

async function refuseSource(name: string): Promise<void> {
  const { demoSource, sourceFault } = await import("#datasets/publish.ts");
  const fault =
    name === demoSource ? "is the name of the invented records; choose another" : sourceFault(name);
  if (fault !== undefined)
    throw new CommandFault(
      exitCodes.usage,
      `option '--source <name>' argument '${name}' is invalid. It ${fault}.`,
    );
}

function refuseTwice(files: readonly string[]): void {
  if (files.filter((file) => file === "-").length > 1)
    throw new CommandFault(exitCodes.usage, "- is standard input, which can be read only once.");
}

interface ImportOptions extends OutputOptions {
  source: string;
  map?: string;
  encoding?: Encoding;
  merge?: boolean;
  dryRun?: boolean;
  stage?: boolean;
  maxRejected: RejectedMax;
  /** In per cent. */
  maxShrink: number;
  allowEmpty?: boolean;
}

/** The options that every format has. */
const addImportOptions = (command: Command): Command =>
  command
    .argument("<files...>", "files of the source, read in this order; - is standard input")
    .requiredOption("--source <name>", "name of the source whose records are replaced")
    .option("--merge", "add, replace and remove single records; all others of the source stay")
    .addOption(
      new Option(
        "--encoding <name>",
        "how the files are encoded; utf-8 unless the mapping says",
      ).choices(encodings),
    )
    .option("--dry-run", "tell what would change and change nothing")
    .addOption(
      new Option("--stage", "build and check, but leave it to be published later").conflicts(
        "dryRun",
      ),
    )
    .addOption(
      new Option(
        "--max-rejected <n>",
        "publish although up to so many lines, or so many per cent (5%), are rejected",
      )
        .argParser(parseRejectedMax)
        .default({ lines: 0 }, "0"),
    )
    .addOption(
      new Option(
        "--max-shrink <percent>",
        "publish although the source loses up to this share of its records",
      )
        .argParser(parseShrinkMax)
        .default(50, "50%"),
    )
    .option("--allow-empty", "accept files without a record, and a source that ends up without any")
    .option(...jsonOption);

function parseRejectedMax(text: string): RejectedMax {
  const [, count, percent] = /^(\d{1,9})(%?)$/.exec(text) ?? [];
  if (count === undefined || (percent === "%" && Number(count) > 100))
    throw new InvalidArgumentError(
      "Write a number of lines, such as 20, or a share of those read, such as 5%.",
    );
  return percent === "%" ? { percent: Number(count) } : { lines: Number(count) };
}

function parseShrinkMax(text: string): number {
  const [, percent] = /^(\d{1,3})%$/.exec(text) ?? [];
  if (percent === undefined || Number(percent) > 100)
    throw new InvalidArgumentError("Write a share from 0% to 100%, such as 60%.");
  return Number(percent);
}

/** @param shrinkPercentMax what was allowed. */
function importRefusal(
  source: string,
  { refusal, collected, sourceSize }: ImportResult,
  shrinkPercentMax: number,
): CommandFault | null {
  switch (refusal) {
    case null:
      return null;
    case "rejections":
      return new CommandFault(
        exitCodes.inputRefused,
        `${collected.rejections.count} of ${collected.read} lines were rejected; nothing was published. Mend them, or allow some with --max-rejected.`,
      );
    case "empty":
      return new CommandFault(
        exitCodes.inputRefused,
        `Source '${source}' would be left without a record; nothing was published. If that is meant, say --allow-empty.`,
      );
    case "shrunk": {
      const { before, now } = sourceSize;
      const lost = Math.ceil(((before - now) * 100) / before);
      return new CommandFault(
        exitCodes.shrunk,
        `Source '${source}' would shrink from ${count(before)} to ${count(now)} records, by more than the ${shrinkPercentMax}% allowed; nothing was published. Were files cut off or left out? If it is meant, say --max-shrink ${lost}%.`,
      );
    }
  }
}

const count = (number: number) => number.toLocaleString("en-US");
