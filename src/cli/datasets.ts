/** `gp-records datasets`: shows the datasets there are, checks them, and chooses which one is served. */
import type { Command } from "commander";
import type { DatasetList } from "#datasets/catalogue.ts";
import type { Generation } from "#datasets/generation.ts";
import type { GenerationCheck } from "#datasets/check-generations.ts";
import { isOutdated, isStaged } from "#datasets/choose.ts";
import type { Datasets } from "#datasets/datasets.ts";
import type { AuditAction } from "#store/audit.ts";
import { CommandFault, exitCodes } from "./command-fault.ts";
import type { CliContext } from "./context.ts";
import { addDiff } from "./datasets-diff.ts";
import { changeDatasets, lookAtDatasets } from "./datasets-folder.ts";
import { addPin, addPrune, addUnpin, pruneAfterPublication } from "./datasets-prune.ts";
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

export const noDataset = "There is no dataset yet; 'gp-records import' makes one.";

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

function describe(catalogue: DatasetList, generation: Generation): string {
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

interface PublishOptions extends OutputOptions {
  discardNewer?: boolean;
  force?: boolean;
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
    .option(
      "--force",
      "publish although a running server cannot read its format, and keeps what it serves",
    )
    .option(...jsonOption)
    .action((version: string, options: PublishOptions) =>
      choose(context, options, "dataset.published", (datasets) =>
        datasets.publishVersion({
          version,
          discardsNewer: options.discardNewer === true,
          isForced: options.force === true,
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
      choose(context, options, "dataset.rolled_back", (datasets) =>
        datasets.rollBack(context.now()),
      ),
    );
}

async function choose(
  context: CliContext,
  options: OutputOptions,
  action: AuditAction,
  change: (datasets: Datasets) => Promise<Generation>,
): Promise<void> {
  await changeDatasets(context, async (datasets) => {
    const { version, published_at } = await change(datasets);
    await noteChange(context, { action, subject: version });
    const { versions: pruned, text } = await pruneAfterPublication(context, datasets);
    printResult(context, options, { version, published_at, pruned }, () =>
      [`${version} is the current dataset.`, text].join("\n").trimEnd(),
    );
  });
}

function addVerify(datasets: Command, context: CliContext): void {
  datasets
    .command("verify")
    .description(
      "check every dataset: its file against its SHA-256, what is known of it, and all records and links in it",
    )
    .argument("[versions...]", "only these")
    .option(...jsonOption)
    .action((versions: string[], options: OutputOptions) =>
      lookAtDatasets(context, async (datasets) => {
        // What is known of one that is there may be what is wrong with it.
        for (const version of versions) if (!datasets.has(version)) datasets.find(version);
        const progress = showProgress();
        const checks: GenerationCheck[] = [];
        const chosen = versions.length === 0 ? datasets.versions() : versions;
        for await (const check of datasets.check(chosen))
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
