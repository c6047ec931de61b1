/** `gp-records datasets`: the commands on the generations there are, and those that only show them. */
import { type Command, InvalidArgumentError } from "commander";
import { readConfig } from "#config.ts";
import type { Catalogue, Generation } from "#datasets/catalogue.ts";
import type { GenerationCheck } from "#datasets/check-generations.ts";
import { isOutdated, isStaged, publishVersion, rollBack } from "#datasets/choose.ts";
import { pinVersion, prune, type Pruned } from "#datasets/prune.ts";
import { type Actor, type AuditAction, operator, service } from "#store/audit.ts";
import { CommandFault, exitCodes } from "./command-fault.ts";
import type { CliContext } from "./context.ts";
import { dataDirOf } from "./data-dir.ts";
import { addDiff } from "./datasets-diff.ts";
import { changeDatasets, dataFolderFault, lookAtDatasets } from "./datasets-folder.ts";
import { noteChange } from "./note-change.ts";
import {
  jsonOption,
  onOneLine,
  type OutputOptions,
  printResult,
  table,
  timeText,
} from "./output.ts";
import { showProgress } from "./progress.ts";

export function addDatasetCommands(program: Command, context: CliContext): void {
  const datasets = program
    .command("datasets")
    .description("show what is published, and choose what is served");
  const looks = [addList, addShow, addDiff, addVerify];
  const changes = [addPublish, addRollback, addPrune, addPin, addUnpin];
  for (const add of [...looks, ...changes]) add(datasets, context);
}

const noDataset = "There is no dataset yet; 'gp-records import' makes one.";

function addList(datasets: Command, context: CliContext): void {
  datasets
    .command("list")
    .description("all datasets, oldest first")
    .option(...jsonOption)
    .action((options: OutputOptions) =>
      lookAtDatasets(context, (catalogue) => {
        const current = catalogue.currentVersion();
        const rows = catalogue.list().map((generation) => ({
          version: generation.version,
          records: recordTotal(generation),
          current: generation.version === current,
          staged: isStaged(generation),
          outdated: isOutdated(generation, current),
          pinned: generation.pinned_at !== null,
          published_at: generation.published_at,
        }));
        printResult(context, options, rows, () =>
          rows.length === 0
            ? noDataset
            : table(
                ["version", "records", "state", "published"],
                rows.map((row) => [
                  row.version,
                  row.records.toLocaleString("en-US"),
                  stateText(row),
                  timeText(row.published_at),
                ]),
              ),
        );
      }),
    );
}

const states = ["current", "staged", "outdated", "pinned"] as const;

const stateText = (row: Record<(typeof states)[number], boolean>) =>
  states.filter((state) => row[state]).join(", ");

function addShow(datasets: Command, context: CliContext): void {
  datasets
    .command("show")
    .description("all that is known of one dataset")
    .argument("[version]", "the current one if left out")
    .option(...jsonOption)
    .action((version: string | undefined, options: OutputOptions) =>
      lookAtDatasets(context, (catalogue) => {
        const current = catalogue.currentVersion();
        const wanted = version ?? current;
        if (wanted === null) throw new CommandFault(exitCodes.conflict, noDataset);
        const generation = catalogue.find(wanted);
        const known = { ...generation, current: wanted === current };
        printResult(context, options, known, () => describe(catalogue, generation));
      }),
    );
}

function describe(catalogue: Catalogue, generation: Generation): string {
  const { version, records, bytes, sha256, built_at, built_from, published_at } = generation;
  return table(
    ["dataset", ""],
    [
      ["version", version],
      ["current", version === catalogue.currentVersion() ? "yes" : "no"],
      ...Object.entries(records).map(([kind, count]) => [
        `${kind} records`,
        count.toLocaleString("en-US"),
      ]),
      ["built", timeText(built_at)],
      ["built from", built_from ?? "-"],
      ["published", timeText(published_at)],
      ["published after", generation.published_after ?? "-"],
      ["pinned", timeText(generation.pinned_at)],
      ["file", catalogue.pathOf(version)],
      ["bytes", bytes.toLocaleString("en-US")],
      ["sha-256", sha256],
    ],
  );
}

const recordTotal = ({ records }: Generation) => Object.values(records).reduce((a, b) => a + b);

/** `gp-records datasets publish` and `rollback`: choose which generation is served. */
interface PublishOptions extends OutputOptions {
  discardNewer?: boolean;
}

function addPublish(datasets: Command, context: CliContext): void {
  datasets
    .command("publish")
    .description("serve this dataset; a running server takes it over within two seconds")
    .argument("<version>", "as `datasets list` shows it")
    .option(
      "--discard-newer",
      "publish a staged dataset although another was published since, whose changes are given up",
    )
    .option(...jsonOption)
    .action((version: string, options: PublishOptions) =>
      choose(context, options, "dataset.published", (catalogue) =>
        publishVersion(catalogue, {
          version,
          discardsNewer: options.discardNewer === true,
          nowMilliseconds: context.now(),
        }),
      ),
    );
}

function addRollback(datasets: Command, context: CliContext): void {
  datasets
    .command("rollback")
    .description("serve the dataset again that was served before the current one was published")
    .option(...jsonOption)
    .action((options: OutputOptions) =>
      choose(context, options, "dataset.rolled_back", (catalogue) =>
        rollBack(catalogue, context.now()),
      ),
    );
}

async function choose(
  context: CliContext,
  options: OutputOptions,
  action: AuditAction,
  change: (catalogue: Catalogue) => Generation,
): Promise<void> {
  await changeDatasets(context, async (catalogue) => {
    const { version, published_at } = change(catalogue);
    await noteChange(context, { action, subject: version });
    const { versions: pruned, text } = await pruneAfterPublication(context, catalogue);
    printResult(context, options, { version, published_at, pruned }, () =>
      [`${version} is the current dataset.`, text].join("\n").trimEnd(),
    );
  });
}

/** `gp-records datasets prune`, `pin` and `unpin`, and what goes by itself after a publication: which datasets are kept. */
interface PruneOptions extends OutputOptions {
  keep?: number;
  dryRun?: boolean;
}

function addPrune(datasets: Command, context: CliContext): void {
  datasets
    .command("prune")
    .description(
      "delete old datasets; never the current one, one that is pinned, nor what a server may be opening",
    )
    .option(
      "--keep <n>",
      "how many of those published are kept, the newest (default: DATASETS_KEEP)",
      parseKeep,
    )
    .option("--dry-run", "tell what would be deleted and delete nothing")
    .option(...jsonOption)
    .action(async (options: PruneOptions) => {
      const isDryRun = options.dryRun === true;
      const keep = options.keep ?? readConfig(context.environment).datasetsKeep;
      const pruned = await changeDatasets(context, (catalogue) =>
        prune(catalogue, { keep, isDryRun, nowMilliseconds: context.now() }),
      );
      if (!isDryRun) await notePruned(context, pruned, operator);
      const json = {
        removed: pruned.removed.map(({ version }) => version),
        bytes: bytesOf(pruned),
        pinned: pruned.pinned.map(({ version }) => version),
        dry_run: isDryRun,
      };
      printResult(context, options, json, () => pruneText(pruned, isDryRun));
      if (pruned.failures.length > 0)
        throw dataFolderFault(pruned.failures[0]!.error, dataDirOf(context));
    });
}

function pruneText(pruned: Pruned, isDryRun: boolean): string {
  const kept = pruned.pinned.map(
    ({ version }) =>
      `${version} is pinned and stays; 'gp-records datasets unpin ${version}' lets it go.`,
  );
  const { removed } = pruned;
  if (removed.length === 0)
    return [...kept, "Every dataset there is has to be kept; nothing was deleted."].join("\n");
  const what = isDryRun ? "Would delete" : "Deleted";
  const sum = `${what} ${countText(pruned)}${isDryRun ? " and free" : ", which freed"} ${bytesText(pruned)}.`;
  return [...removed.map(({ version }) => version), ...kept, sum].join("\n");
}

const bytesOf = ({ removed }: Pruned) => removed.reduce((sum, { bytes }) => sum + bytes, 0);
const bytesText = (pruned: Pruned) => `${bytesOf(pruned).toLocaleString("en-US")} bytes`;
const countText = ({ removed: { length } }: Pruned) =>
  `${length} dataset${length === 1 ? "" : "s"}`;

function parseKeep(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text))
    throw new InvalidArgumentError("Write how many datasets to keep, 1 or more.");
  return Number(text);
}

async function notePruned(context: CliContext, { removed }: Pruned, actor: Actor): Promise<void> {
  for (const { version: subject } of removed)
    await noteChange(context, { actor, action: "dataset.pruned", subject });
}

/** What went after a publication, as its command reports it. */
export interface Cleared {
  versions: string[];
  /** A sentence; empty where nothing went. */
  text: string;
}

/**
 * Deletes what DATASETS_KEEP does not cover any more. The publication is done: whatever fails here is said, and its
 * command is none the less a success. The caller holds the lock.
 */
export async function pruneAfterPublication(
  context: CliContext,
  catalogue: Catalogue,
): Promise<Cleared> {
  const { datasetsKeep: keep } = readConfig(context.environment);
  if (keep === 0) return { versions: [], text: "" };
  const pruned = tryToPrune(context, catalogue, keep);
  await notePruned(context, pruned, service);
  const versions = pruned.removed.map(({ version }) => version);
  const text =
    versions.length === 0
      ? ""
      : `Deleted ${countText(pruned)} beyond the newest ${keep} (DATASETS_KEEP), which freed ${bytesText(pruned)}.`;
  return { versions, text };
}

function tryToPrune(context: CliContext, catalogue: Catalogue, keep: number): Pruned {
  const warn = (what: string, error: Error) =>
    context.reportError(
      `warning: ${what} could not be deleted: ${error.message}. The next publication tries again, or 'gp-records datasets prune'.`,
    );
  const order = { keep, isAutomatic: true, isDryRun: false, nowMilliseconds: context.now() };
  try {
    const pruned = prune(catalogue, order);
    for (const { version, error } of pruned.failures) warn(`the old dataset ${version}`, error);
    return pruned;
  } catch (error) {
    warn("old datasets", error as Error);
    return { removed: [], pinned: [], failures: [] };
  }
}

function addPin(datasets: Command, context: CliContext): void {
  datasets
    .command("pin")
    .description("keep a dataset for good, for figures that must be reproduced")
    .argument("<version>", "as `datasets list` shows it")
    .option(...jsonOption)
    .action((version: string, options: OutputOptions) =>
      changePin(context, options, version, true),
    );
}

function addUnpin(datasets: Command, context: CliContext): void {
  datasets
    .command("unpin")
    .description("let a dataset go that was pinned, once it is old enough")
    .argument("<version>", "as `datasets list` shows it")
    .option(...jsonOption)
    .action((version: string, options: OutputOptions) =>
      changePin(context, options, version, false),
    );
}

async function changePin(
  context: CliContext,
  options: OutputOptions,
  version: string,
  isPinned: boolean,
): Promise<void> {
  const { isChange, pinned_at } = await changeDatasets(context, (catalogue) => {
    const before = catalogue.find(version).pinned_at;
    const after = pinVersion(catalogue, version, isPinned ? context.now() : null);
    return { isChange: before !== after.pinned_at, pinned_at: after.pinned_at };
  });
  const action = isPinned ? "dataset.pinned" : "dataset.unpinned";
  if (isChange) await noteChange(context, { action, subject: version });
  printResult(context, options, { version, pinned_at }, () =>
    isPinned
      ? `${version} is pinned: nothing but you deletes it.`
      : `${version} is not pinned: it goes when it is old enough.`,
  );
}

/** `gp-records datasets verify`: checks every dataset byte by byte and record by record. */
function addVerify(datasets: Command, context: CliContext): void {
  datasets
    .command("verify")
    .description(
      "check every dataset: its file against its SHA-256, what is known of it, and all records and links in it",
    )
    .argument("[versions...]", "only these")
    .option(...jsonOption)
    .action((versions: string[], options: OutputOptions) =>
      lookAtDatasets(context, async (catalogue) => {
        const { checkGenerations } = await import("#datasets/check-generations.ts");
        // What is known of one that is there may be what is wrong with it.
        for (const version of versions) if (!catalogue.has(version)) catalogue.find(version);
        const progress = showProgress();
        const checks: GenerationCheck[] = [];
        const chosen = versions.length === 0 ? catalogue.versions() : versions;
        for (const check of checkGenerations(catalogue, true, chosen))
          progress.show(checks.push(check), "datasets checked");
        progress.clear();
        report(context, options, checks);
      }),
    );
}

function report(
  context: CliContext,
  options: OutputOptions,
  checks: readonly GenerationCheck[],
): void {
  const json = checks.map(({ version, file, isCurrent, fault, mend }) => {
    return { version, file, current: isCurrent, fault, mend };
  });
  printResult(context, options, json, () => checks.map(checkText).join("\n"));
  const faulty = checks.filter(({ fault }) => fault !== null);
  const orUnread = faulty.some(({ wrong }) => wrong === "unread") ? ", or not to be read" : "";
  if (faulty.length > 0)
    throw new CommandFault(
      exitCodes.unhealthy,
      `${faulty.length} of ${checks.length} datasets ${faulty.length === 1 ? "is" : "are"} not as published${orUnread}.`,
    );
}

function checkText({ version, isCurrent, fault, mend }: GenerationCheck): string {
  const sound = `${version}  sound${isCurrent ? ", current" : ""}`;
  return fault === null ? sound : `${version}  ${onOneLine(fault)}\n  ${onOneLine(mend!)}`;
}
