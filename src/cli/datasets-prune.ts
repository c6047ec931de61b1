/** `gp-records datasets prune`, `pin` and `unpin`, and the pruning after each publication: which datasets are kept. */
import { type Command, InvalidArgumentError } from "commander";
import { readConfig } from "#config.ts";
import type { Datasets } from "#datasets/datasets.ts";
import type { Pruned } from "#datasets/prune.ts";
import { type Actor, operator, service } from "#store/audit.ts";
import type { CliContext } from "./context.ts";
import { dataDirOf } from "./data-dir.ts";
import { changeDatasets, dataFolderFault } from "./datasets-folder.ts";
import { noteChange } from "./note-change.ts";
import { jsonOption, type OutputOptions, printResult } from "./output.ts";

interface PruneOptions extends OutputOptions {
  keep?: number;
  dryRun?: boolean;
}

export function addPrune(datasets: Command, context: CliContext): void {
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
      const pruned = await changeDatasets(context, async (datasets) => {
        const nowMilliseconds = context.now();
        if (!isDryRun) await datasets.forgetSteps(nowMilliseconds);
        return datasets.prune({ keep, isDryRun, nowMilliseconds });
      });
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

export function addPin(datasets: Command, context: CliContext): void {
  datasets
    .command("pin")
    .description("keep a dataset for good, for figures that must be reproduced")
    .argument("<version>", "as `datasets list` shows it")
    .option(...jsonOption)
    .action((version: string, options: OutputOptions) =>
      changePin(context, options, version, true),
    );
}

export function addUnpin(datasets: Command, context: CliContext): void {
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
  const { isChange, pinned_at } = await changeDatasets(context, async (datasets) => {
    const before = datasets.find(version).pinned_at;
    const after = await datasets.pinVersion(version, isPinned ? context.now() : null);
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

/** What was deleted after a publication, as its command reports it. */
export interface Cleared {
  versions: string[];
  /** A sentence; empty where nothing was deleted. */
  text: string;
}

/**
 * Deletes what DATASETS_KEEP and CHANGES_DAYS no longer cover. The publication is done, so a failure here is a warning and the command
 * still succeeds. The caller holds the import lock.
 */
export async function pruneAfterPublication(
  context: CliContext,
  datasets: Datasets,
): Promise<Cleared> {
  const { datasetsKeep: keep } = readConfig(context.environment);
  await tryToForgetSteps(context, datasets);
  if (keep === 0) return { versions: [], text: "" };
  const pruned = await tryToPrune(context, datasets, keep);
  await notePruned(context, pruned, service);
  const versions = pruned.removed.map(({ version }) => version);
  const text =
    versions.length === 0
      ? ""
      : `Deleted ${countText(pruned)} beyond the newest ${keep} (DATASETS_KEEP), which freed ${bytesText(pruned)}.`;
  return { versions, text };
}

async function tryToForgetSteps(context: CliContext, datasets: Datasets): Promise<void> {
  try {
    await datasets.forgetSteps(context.now());
  } catch (error) {
    context.reportError(
      `warning: what old publications changed could not be deleted: ${(error as Error).message}. The next publication tries again, or 'gp-records datasets prune'.`,
    );
  }
}

async function tryToPrune(context: CliContext, datasets: Datasets, keep: number): Promise<Pruned> {
  const warn = (what: string, error: Error) =>
    context.reportError(
      `warning: ${what} could not be deleted: ${error.message}. The next publication tries again, or 'gp-records datasets prune'.`,
    );
  const order = { keep, isAutomatic: true, isDryRun: false, nowMilliseconds: context.now() };
  try {
    const pruned = await datasets.prune(order);
    for (const { version, error } of pruned.failures) warn(`the old dataset ${version}`, error);
    return pruned;
  } catch (error) {
    warn("old datasets", error as Error);
    return { removed: [], pinned: [], failures: [] };
  }
}

async function notePruned(context: CliContext, { removed }: Pruned, actor: Actor): Promise<void> {
  for (const { version: subject } of removed)
    await noteChange(context, { actor, action: "dataset.pruned", subject });
}
