/** `gp-records datasets`: the commands on the generations there are, and those that only show them. */
import type { Command } from "commander";
import type { Catalogue, Generation } from "#datasets/catalogue.ts";
import { isOutdated, isStaged } from "#datasets/choose.ts";
import { CommandFault } from "./command-fault.ts";
import { addPublish, addRollback } from "./datasets-choose.ts";
import { addDiff } from "./datasets-diff.ts";
import { lookAtDatasets } from "./datasets-folder.ts";
import { addPin, addPrune, addUnpin } from "./datasets-prune.ts";
import { addVerify } from "./datasets-verify.ts";
import { exitCodes } from "./exit-codes.ts";
import { jsonOption, type OutputOptions, printResult, table, timeText } from "./output.ts";
import type { Surroundings } from "./surroundings.ts";

export function addDatasetCommands(program: Command, surroundings: Surroundings): void {
  const datasets = program
    .command("datasets")
    .description("show what is published, and choose what is served");
  const looks = [addList, addShow, addDiff, addVerify];
  const changes = [addPublish, addRollback, addPrune, addPin, addUnpin];
  for (const add of [...looks, ...changes]) add(datasets, surroundings);
}

const noDataset = "There is no dataset yet; 'gp-records import' makes one.";

function addList(datasets: Command, surroundings: Surroundings): void {
  datasets
    .command("list")
    .description("all datasets, oldest first")
    .option(...jsonOption)
    .action((options: OutputOptions) =>
      lookAtDatasets(surroundings, (catalogue) => {
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
        printResult(surroundings, options, rows, () =>
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

function addShow(datasets: Command, surroundings: Surroundings): void {
  datasets
    .command("show")
    .description("all that is known of one dataset")
    .argument("[version]", "the current one if left out")
    .option(...jsonOption)
    .action((version: string | undefined, options: OutputOptions) =>
      lookAtDatasets(surroundings, (catalogue) => {
        const current = catalogue.currentVersion();
        const wanted = version ?? current;
        if (wanted === null) throw new CommandFault(exitCodes.conflict, noDataset);
        const generation = catalogue.find(wanted);
        const known = { ...generation, current: wanted === current };
        printResult(surroundings, options, known, () => describe(catalogue, generation));
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
