/** `gp-records import`: replaces a source's published records with those in the given files, or merges them in. */
import { Option } from "commander";
import type { Rejections } from "#datasets/collect.ts";
import type { ImportRequest, ImportResult, RejectedMax } from "#datasets/publish.ts";
import type { DatasetStore } from "#datasets/store.ts";
import { comparable } from "#importers/cells.ts";
import { encodings } from "#importers/encoding.ts";
import type { ReadOptions } from "#importers/source-file.ts";
import { demoSource } from "#records/common.ts";
import { kinds, recordKinds } from "#records/kinds.ts";
import { counted, grouped as count } from "#words.ts";
import { CommandFault, exitCodes, usageFault } from "./command-fault.ts";
import {
  argument,
  choice,
  type CliContext,
  command,
  family,
  flag,
  neededOption,
  option,
  parameter,
  type Values,
} from "./command.ts";
import {
  filingsJson,
  type FilingsSummary,
  filingsText,
  openFilings,
  unnamedFault,
} from "./import-filings.ts";
import { parseConfidence, parsePercent, parseRejectedMax } from "./option-values.ts";
import { firstLines, onOneLine, showProgress } from "./output.ts";
import { changePublished, noteAndPrune } from "./publishing.ts";

const args = {
  files: argument("<files...>", "files of the source, read in this order; - for standard input"),
};

/** Options of every import. */
const guards = {
  isDryRun: flag("--dry-run", "show what would change, and change nothing"),
  isStaged: flag("--stage", "build and check the dataset, but do not publish it yet", "dryRun"),
  rejectedMax: parameter<RejectedMax>(
    new Option(
      "--max-rejected <n>",
      "publish even if up to this many lines, or this share of them (such as 5%), are rejected",
    )
      .argParser(parseRejectedMax)
      .default({ lines: 0 }, "0"),
  ),
  shrinkPercentMax: parameter<number>(
    new Option(
      "--max-shrink <percent>",
      "publish even if the source loses up to this share of its records",
    )
      .argParser(parsePercent)
      .default(50, "50%"),
  ),
  allowsEmpty: flag(
    "--allow-empty",
    "accept files without a record, and a source that ends up without any",
  ),
};

/** Options of the formats NDJSON and CSV. */
const options = {
  source: neededOption("--source <name>", "name of the source whose records are replaced"),
  isMerge: flag("--merge", "add, replace and remove single records; all others of the source stay"),
  encoding: choice(
    "--encoding <name>",
    "encoding of the files; utf-8 unless the mapping says otherwise",
    encodings,
  ),
  ...guards,
};

type Given = Values<typeof args> & Values<typeof options>;
type Order = Pick<Given, "source" | keyof typeof guards> & Partial<Pick<Given, "isMerge">>;

/** Output and failure of an import in any format. */
export const outcome = {
  json: (imported: Imported) => imported.mask(importJson(imported)),
  text: (imported: Imported, _: unknown, context: CliContext) =>
    imported.mask(importText(imported, context)),
  fault: importRefusal,
};

const ndjson = command({
  name: "ndjson",
  description: "import canonical records, one JSON object a line (docs/importing.md)",
  args,
  options,
  example: "import ndjson records.ndjson --source own",
  run: (given, context) =>
    runImport(given, context, [], async (reading) => {
      const { readNdjson } = await import("#importers/json.ts");
      return readNdjson(given.files, reading);
    }),
  ...outcome,
});

const csv = command({
  name: "csv",
  description: "import rows of a table, through a mapping file (docs/importing.md)",
  args,
  options: {
    ...options,
    source: option("--source <name>", "name of the source whose records are replaced"),
    map: option("--map <file>", "the mapping from columns to records"),
    suggests: flag(
      "--suggest",
      "print a draft mapping for one file, and notes on what to check to standard error; import nothing",
      "source",
      "map",
    ),
  },
  example: "import csv projects.csv --map examples/mappings/san-francisco.json --source city",
  run: async ({ map, source, suggests, ...given }, context) => {
    if (suggests) return suggest(given, context);
    if (source === undefined) throw missingOption("--source <name>");
    if (map === undefined) throw missingOption("--map <file>");
    return runImport({ ...given, source }, context, [map], async (reading) => {
      const { readMapping } = await import("#importers/read-mapping.ts");
      const { readCsv } = await import("#importers/csv.ts");
      return readCsv(given.files, await readMapping(map), reading);
    });
  },
  ...outcome,
});

export const secOptions = {
  source: parameter<string>(
    new Option("--source <name>", "name of the source whose records are replaced").default("sec"),
  ),
  minConfidence: parameter<number>(
    new Option(
      "--min-confidence <n>",
      "leave a vehicle without a GP if its link has a lower confidence",
    )
      .argParser(parseConfidence)
      .default(0.5),
  ),
  namedPercentMin: option(
    "--min-named <percent>",
    "refuse if a smaller share of vehicles has a GP",
    parsePercent,
  ),
  ...guards,
};

/** Imports filings. @param paths files and folders, which are read together. */
export const importSec = (
  paths: readonly string[],
  { minConfidence, namedPercentMin, ...order }: Values<typeof secOptions>,
  context: CliContext,
): Promise<Imported> =>
  publishEntries(order, context, ({ folder }, show) =>
    openFilings(paths, { folder, source: order.source, minConfidence, namedPercentMin, show }),
  );

const sec = command({
  name: "sec",
  description: "import public filings of the SEC, Form D and Form ADV (docs/real-data.md)",
  args: { paths: argument("<paths...>", "files and folders of filings, which are read together") },
  options: secOptions,
  example: "import sec downloads/sec --dry-run",
  run: ({ paths, ...given }, context) => importSec(paths, given, context),
  ...outcome,
});

export const importCommands = family(
  "import",
  "replace a source's published records with those in its files",
  [ndjson, csv, sec],
);

const missingOption = (name: string) =>
  usageFault(`required option '${name}' not specified. See \`gp-records import csv --help\`.`);

/** Prints a draft of a mapping, and notes on it to standard error. Always returns null. */
async function suggest(
  { files, encoding }: Pick<Given, "files" | "encoding">,
  context: CliContext,
): Promise<null> {
  const [file, ...others] = files;
  if (file === undefined || others.length > 0)
    throw usageFault("--suggest takes only one file. Leave out the others.");
  if (file === "-")
    throw usageFault(
      "--suggest reads a file several times, which is not possible with standard input. Save the input to a file, and name that file.",
    );
  const { suggestMapping } = await import("#importers/suggest-mapping.ts");
  const { mapping, notes } = await suggestMapping(file, encoding);
  context.print(JSON.stringify(mapping, null, 2));
  context.reportError(notes.map(onOneLine).join("\n"));
  return null;
}

type Imported = Awaited<ReturnType<typeof publishEntries>>;

/**
 * Imports files. The code that reads them is loaded only here, so that no other command waits for it.
 * @param mapping mapping files, if any.
 * @param open called to begin reading, after this process has taken the import lock.
 */
async function runImport(
  given: Given,
  context: CliContext,
  mapping: readonly string[],
  open: (reading: ReadOptions) => Promise<ImportRequest["entries"]>,
): Promise<Imported> {
  const { refuseUnreadable } = await import("#importers/source-file.ts");
  const { files, encoding, ...order } = given;
  if (files.filter((file) => file === "-").length > 1)
    throw usageFault("Standard input (-) can be read only once. Name - only once.");
  refuseUnreadable([...mapping, ...files]);
  return publishEntries(order, context, async () => ({
    entries: await open({ encoding, allowsEmpty: order.allowsEmpty }),
  }));
}

interface Opened extends Pick<ImportRequest, "entries"> {
  summary?: FilingsSummary;
  close?: () => void;
}

/** Imports the entries that `open` returns. Calls `open` after this process has taken the import lock. */
async function publishEntries(
  order: Order,
  context: CliContext,
  open: (store: DatasetStore, show: (count: number, what: string) => void) => Promise<Opened>,
) {
  const { source } = order;
  await refuseSource(source);
  const progress = showProgress();
  try {
    return await changePublished(context, order, async (store, kept) => {
      const { importSource } = await import("#datasets/publish.ts");
      const { masked } = await import("#datasets/withhold.ts");
      // Replaces the names of suppressed people in output.
      const mask = <Output>(output: Output): Output => masked(output, kept.suppressions);
      const { entries, summary, close = () => {} } = await open(store, progress.show);
      try {
        const result = await importSource(store, {
          ...order,
          isDryRun: order.isDryRun || summary?.refusal === "unnamed",
          entries,
          ...kept,
          nowMilliseconds: context.now(),
          ...(summary && { report: () => summary.figures }),
          onProgress: (some, done) =>
            progress.show(some, `${done === "read" && !summary ? "lines" : "records"} ${done}`),
        });
        progress.clear();
        const subject = result.published?.version;
        const { added, updated: changed, removed } = result.changes;
        const detail = { source, added, changed, removed };
        const cleared =
          subject === undefined
            ? { versions: [], text: "" }
            : await noteAndPrune(context, store, { action: "dataset.published", subject, detail });
        return { given: order, mask, result, cleared, filings: summary };
      } finally {
        close();
      }
    });
  } finally {
    progress.clear();
  }
}

/** Throws a CommandFault if an import must not use this name for its source. */
export async function refuseSource(name: string): Promise<void> {
  const { sourceFault } = await import("#datasets/publish.ts");
  const fault =
    name === demoSource ? "is reserved for the demo; choose another name" : sourceFault(name);
  if (fault !== undefined)
    throw usageFault(`option '--source <name>' argument '${name}' is invalid. It ${fault}.`);
}

const refusalOf = ({ result, filings }: Imported) => result.refusal ?? filings?.refusal ?? null;

function importRefusal(imported: Imported): CommandFault | null {
  const { source, shrinkPercentMax, isStaged } = imported.given;
  const { collected, sourceSize } = imported.result;
  const rejected = collected.rejections.count;
  const nothing = isStaged ? "nothing was staged" : "nothing was published";
  switch (refusalOf(imported)) {
    case null:
      return null;
    case "unnamed":
      return unnamedFault(imported.filings!, nothing);
    case "rejections":
      return new CommandFault(
        exitCodes.inputRefused,
        `${count(rejected)} of ${count(collected.read)} lines ${rejected === 1 ? "was" : "were"} rejected; ${nothing}. Correct the rejected lines${rejected === collected.read ? "" : `, or leave them out with --max-rejected ${rejected}`}.`,
      );
    case "empty":
      return new CommandFault(
        exitCodes.inputRefused,
        `Source '${source}' would be left without a record; ${nothing}. ${rejected === 0 ? "If that is intended, use --allow-empty." : "Correct the rejected lines."}`,
      );
    case "shrunk": {
      const { before, now } = sourceSize;
      const lost = Math.ceil(((before - now) * 100) / before);
      return new CommandFault(
        exitCodes.shrunk,
        `Source '${source}' would shrink from ${count(before)} to ${counted(now, "record")}, by more than the ${shrinkPercentMax}% allowed; ${nothing}. Check that no file is cut off or missing. If the loss is intended, use --max-shrink ${lost}%.`,
      );
    }
  }
}

function importJson(imported: Imported): object {
  const { given, result, cleared, filings } = imported;
  const { read, accepted, rejections, absent, alike } = result.collected;
  const { added, updated, removed, unlinked } = result.changes;
  return {
    source: given.source,
    mode: given.isMerge ? "merge" : "replace",
    read,
    accepted,
    rejected: rejections.count,
    rejections: rejections.listed,
    absent: absent.count,
    absences: absent.listed,
    alike,
    outcome: outcomeOf(imported),
    refusal: refusalOf(imported),
    added,
    changed: updated,
    removed,
    unchanged: unchangedOf(result),
    withheld: result.withheldCount,
    demo_removed: result.droppedCount,
    linked_names: result.linkedNames,
    unlinked: unlinked.length,
    links_dropped: unlinked.slice(0, 1000),
    source_records: result.sourceSize,
    records: result.records,
    version: (result.published ?? result.staged)?.version ?? null,
    pruned: cleared.versions,
    ...(filings && { filings: filingsJson(filings) }),
  };
}

function importText(imported: Imported, context: CliContext): string {
  const { given, result, cleared, filings } = imported;
  const { read, accepted, rejections, absent, alike } = result.collected;
  const { added, updated, removed } = result.changes;
  const unchanged = unchangedOf(result) ?? 0;
  const lines = [
    ...(filings === undefined ? [] : filingsText(filingsJson(filings), context.now())),
    ...listed(rejections),
    ...valuesText(rejections),
    ...listed(absent),
    ...alikeText(alike, filings !== undefined),
    ...unlinkedText(result.changes),
  ];
  lines.push(
    `Source '${given.source}': ${counted(read, filings === undefined ? "line" : "record")} read, ${count(accepted)} accepted, ${count(rejections.count)} rejected.`,
  );
  if (result.linkedNames !== null)
    lines.push(`${counted(result.linkedNames, "name")} linked to a GP of another source.`);
  if (result.withheldCount > 0)
    lines.push(
      `${counted(result.withheldCount, "record")} withheld, in whole or in part, for suppressions.`,
    );
  const changes = `${counted(added, "record")} added, ${count(updated)} changed, ${count(removed)} removed, ${count(unchanged)} unchanged`;
  const records = recordKinds
    .map((kind) => counted(result.records?.[kind] ?? 0, kinds[kind].singular))
    .join(", ");
  switch (outcomeOf(imported)) {
    case "published":
      lines.push(`${changes}. Published as ${result.published!.version}: ${records}.`);
      lines.push(...demoText(result, "were removed"));
      if (cleared.text !== "") lines.push(cleared.text);
      break;
    case "staged":
      lines.push(`${changes}. Staged as ${result.staged!.version}: ${records}.`);
      lines.push(...demoText(result, "will be removed on publication"));
      lines.push(...nextSteps(result.staged!));
      break;
    case "dry_run":
      lines.push(
        `${changes}; nothing was published, because this was a dry run. The dataset would have ${records}.`,
      );
      lines.push(...demoText(result, "would be removed"));
      break;
    case "unchanged":
      lines.push("The result is the same as the current dataset, so no new dataset was made.");
  }
  return lines.join("\n");
}

/** Returns a line that explains why an import removes the demo's records; none if it removes none. */
const demoText = ({ droppedCount }: ImportResult, what: string): string[] =>
  droppedCount === 0
    ? []
    : [
        `All ${count(droppedCount)} invented records of the demo ${what}, because the first import of a real source replaces them.`,
      ];

const listed = (one: Rejections) =>
  firstLines(
    one.listed.map(({ file, line, field, reason, count: times, also = [] }) =>
      onOneLine(`${file}:${line}: ${field} ${reason}${timesText(times, also)}`),
    ),
  );

function timesText(times: number, also: readonly number[]): string {
  if (times === 1) return "";
  const more = times > also.length + 1 ? ", …" : "";
  return ` (${count(times)} times, also on line${also.length === 1 ? "" : "s"} ${also.join(", ")}${more})`;
}

/** Returns a heading and, for each field with unknown words, the `values` for the mapping; none if all are known. */
function valuesText({ listed }: Rejections): string[] {
  const unknown = listed.filter(({ word }) => word !== undefined);
  const fields = Map.groupBy(unknown, ({ field }) => field);
  if (fields.size === 0) return [];
  const lines = Array.from(fields, ([field, found]) => {
    // A mapping refuses a cell that differs from another only in case or spaces.
    const cells = Map.groupBy(found, ({ word }) => comparable(word!.cell)).values();
    const values = Object.fromEntries(cells.map(([one]) => [one!.word!.cell, one!.word!.value]));
    const keep = found.some(({ word }) => word!.isNew) ? ', "otherwise": "keep"' : "";
    return onOneLine(`  ${field}: "values": ${JSON.stringify(values)}${keep}`);
  });
  return ["Check what each cell means, then add these to the fields of the mapping:", ...lines];
}

function alikeText(alike: readonly (readonly string[])[], areFilings: boolean): string[] {
  if (alike.length === 0) return [];
  const lines = alike.map(([first, ...others]) => {
    if (areFilings) return onOneLine(`  ${[first, ...others].join("; ")}`);
    const values = Object.fromEntries(others.map((name) => [name, first]));
    return onOneLine(`  "values": ${JSON.stringify(values)}, "otherwise": "keep"`);
  });
  const remedy = areFilings
    ? "say so in corrections.ndjson (docs/real-data.md)"
    : "correct the source, give one the ids of the others as former_ids, or, if rows only name them, add the line to `names` of `named_gps` in the mapping";
  return [
    `The names on each of these lines differ only in legal form. If they mean the same GP, ${remedy}:`,
    ...firstLines(lines),
  ];
}

function unlinkedText({ unlinked }: ImportResult["changes"]): string[] {
  if (unlinked.length === 0) return [];
  const lines = unlinked.map(({ source, record, id, gp }) =>
    onOneLine(`  ${record} '${id}' of source '${source}': ${gp}`),
  );
  return ["No GP has the id that these links lead to, so they are dropped:", ...firstLines(lines)];
}

function nextSteps({ version, built_from }: NonNullable<ImportResult["staged"]>): string[] {
  const steps = [`gp-records datasets publish ${version}`];
  if (built_from !== null) steps.unshift(`gp-records datasets diff ${built_from} ${version}`);
  return ["Next:", ...steps.map((step) => `  ${step}`)];
}

/** Returns the number of records that are as in the previous dataset; null if `importSource` refused the import. */
function unchangedOf({ records, changes }: ImportResult): number | null {
  if (records === null) return null;
  const total = Object.values(records).reduce((a, b) => a + b);
  return total - changes.added - changes.updated;
}

/** Returns `published`, `staged`, `dry_run`, `unchanged` or `refused`. */
export function outcomeOf(imported: Imported) {
  const { outcome, published, staged } = imported.result;
  if (refusalOf(imported) !== null) return "refused";
  if (outcome !== "built") return outcome;
  if (published !== null) return "published";
  return staged === null ? "dry_run" : "staged";
}
