/** `gp-records import`: replaces what is published of one source by the records in its files, or merges them in. */
import type { Command } from "commander";
import type { Catalogue } from "#datasets/catalogue.ts";
import type { ImportResult } from "#datasets/publish.ts";
import type { SourceEntry } from "#records/source-entry.ts";
import { CommandFault } from "./command-fault.ts";
import { dataDirOf } from "./data-dir.ts";
import { dataFolderFault, openDatasets, takeImportLock } from "./datasets-folder.ts";
import type { Cleared } from "./datasets-prune.ts";
import { exitCodes } from "./exit-codes.ts";
import { addImportOptions, type ImportOptions } from "./import-options.ts";
import { importRefusal } from "./import-refusal.ts";
import { importJson, importText } from "./import-report.ts";
import { printResult } from "./output.ts";
import { showProgress } from "./progress.ts";
import type { Surroundings } from "./surroundings.ts";

/** What is read, once the import may begin. */
interface Input {
  /** Files of records, and of the mapping if there is one. */
  files: readonly string[];
  mapping: readonly string[];
  /** Whether all that is read comes out again as records, as far as anyone knows. */
  isWhole: boolean;
  open(): Promise<AsyncIterable<SourceEntry>>;
}

export function addImportCommands(program: Command, surroundings: Surroundings): void {
  const family = program
    .command("import")
    .description("replace what is published of one source by the records in its files");
  const add = (format: string, description: string) =>
    addImportOptions(family.command(format).description(description));
  add("ndjson", "canonical records, one JSON object a line (docs/importing.md)").action(
    (files: string[], options: ImportOptions) =>
      runImport(surroundings, options, ndjsonInput(files, options)),
  );
  add("csv", "rows of a table, through a mapping file (docs/importing.md)")
    .requiredOption("--map <file>", "the mapping from columns to records")
    .action((files: string[], options: ImportOptions) =>
      runImport(surroundings, options, csvInput(files, options)),
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
    const { readNdjson } = await import("#importers/ndjson.ts");
    return readNdjson(files, readOptions(options));
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

/** What an import needs is loaded here: no other command should wait for it. */
async function runImport(
  surroundings: Surroundings,
  options: ImportOptions,
  { files, mapping, isWhole, open }: Input,
): Promise<void> {
  const { importSource } = await import("#datasets/publish.ts");
  const { knownBytes, refuseUnreadable } = await import("#importers/source-file.ts");
  const { source } = options;
  await refuseSource(source);
  refuseTwice(files);
  refuseUnreadable([...mapping, ...files]);
  const dataDir = dataDirOf(surroundings);
  const catalogue = openDatasets(dataDir);
  const lock = takeImportLock(dataDir, surroundings.now());
  const progress = showProgress();
  try {
    const result = await importSource(catalogue, {
      source,
      entries: await open(),
      isMerge: options.merge === true,
      rejectedMax: options.maxRejected,
      shrinkPercentMax: options.maxShrink,
      allowsEmpty: options.allowEmpty === true,
      isDryRun: options.dryRun === true,
      isStaged: options.stage === true,
      knownBytes: isWhole ? knownBytes(files) : 0,
      nowMilliseconds: surroundings.now(),
      onRead: (lines) => progress.show(lines, "lines read"),
      onWritten: (records) => progress.show(records, "records written"),
      onChecked: (records) => progress.show(records, "records checked"),
    });
    progress.clear();
    await notePublished(surroundings, source, result);
    const cleared = await clearOld(surroundings, catalogue, result);
    const isMerge = options.merge === true;
    printResult(surroundings, options, importJson(source, isMerge, result, cleared), () =>
      importText(source, result, cleared),
    );
    const refusal = importRefusal(source, result, options.maxShrink);
    if (refusal !== null) throw refusal;
  } catch (error) {
    throw dataFolderFault(error, dataDir);
  } finally {
    progress.clear();
    lock.release();
  }
}

async function notePublished(
  surroundings: Surroundings,
  source: string,
  { published, changes }: ImportResult,
): Promise<void> {
  if (published === null) return;
  const { noteChange } = await import("./note-change.ts");
  const { added, updated: changed, removed } = changes;
  const detail = { source, added, changed, removed };
  await noteChange(surroundings, {
    action: "dataset.published",
    subject: published.version,
    detail,
  });
}

async function clearOld(
  surroundings: Surroundings,
  catalogue: Catalogue,
  { published }: ImportResult,
): Promise<Cleared> {
  if (published === null) return { versions: [], text: "" };
  const { pruneAfterPublication } = await import("./datasets-prune.ts");
  return pruneAfterPublication(surroundings, catalogue);
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

/** What was read of standard input is not there a second time. */
function refuseTwice(files: readonly string[]): void {
  if (files.filter((file) => file === "-").length > 1)
    throw new CommandFault(exitCodes.usage, "- is standard input, which can be read only once.");
}
