/** `gp-records datasets`: shows the generations there are, and chooses which one is served. */
import type { Command } from "commander";
import type { Catalogue, Generation } from "#datasets/catalogue.ts";
import { CommandFault } from "./command-fault.ts";
import { dataDirOf } from "./data-dir.ts";
import { dataFolderFault, openDatasets, takeImportLock } from "./datasets-folder.ts";
import { exitCodes } from "./exit-codes.ts";
import { jsonOption, type OutputOptions, printResult, table, timeText } from "./output.ts";
import type { Surroundings } from "./surroundings.ts";

export function addDatasetCommands(program: Command, surroundings: Surroundings): void {
  const datasets = program
    .command("datasets")
    .description("show what is published, and choose what is served");
  addList(datasets, surroundings);
  addShow(datasets, surroundings);
  addPublish(datasets, surroundings);
  addRollback(datasets, surroundings);
}

const catalogueOf = (surroundings: Surroundings) => openDatasets(dataDirOf(surroundings));

const noDataset = "There is no dataset yet; 'gp-records import' makes one.";

function addList(datasets: Command, surroundings: Surroundings): void {
  datasets
    .command("list")
    .description("all datasets, oldest first")
    .option(...jsonOption)
    .action((options: OutputOptions) => {
      const catalogue = catalogueOf(surroundings);
      const current = catalogue.currentVersion();
      const rows = catalogue.list().map((generation) => ({
        version: generation.version,
        records: recordTotal(generation),
        current: generation.version === current,
        published_at: generation.published_at,
      }));
      printResult(surroundings, options, rows, () =>
        rows.length === 0
          ? noDataset
          : table(
              ["version", "records", "current", "published"],
              rows.map((row) => [
                row.version,
                row.records.toLocaleString("en-US"),
                row.current ? "yes" : "",
                timeText(row.published_at),
              ]),
            ),
      );
    });
}

function addShow(datasets: Command, surroundings: Surroundings): void {
  datasets
    .command("show")
    .description("all that is known of one dataset")
    .argument("[version]", "the current one if left out")
    .option(...jsonOption)
    .action((version: string | undefined, options: OutputOptions) => {
      const catalogue = catalogueOf(surroundings);
      const current = catalogue.currentVersion();
      const wanted = version ?? current;
      if (wanted === null) throw new CommandFault(exitCodes.conflict, noDataset);
      const generation = catalogue.find(wanted);
      const known = { ...generation, current: wanted === current };
      printResult(surroundings, options, known, () => describe(catalogue, generation));
    });
}

function describe(catalogue: Catalogue, generation: Generation): string {
  const { version, records, bytes, sha256, built_at, published_at } = generation;
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
      ["published", timeText(published_at)],
      ["file", catalogue.pathOf(version)],
      ["bytes", bytes.toLocaleString("en-US")],
      ["sha-256", sha256],
    ],
  );
}

function addPublish(datasets: Command, surroundings: Surroundings): void {
  datasets
    .command("publish")
    .description("serve this dataset; a running server takes it over within two seconds")
    .argument("<version>", "as `datasets list` shows it")
    .option(...jsonOption)
    .action(async (version: string, options: OutputOptions) => {
      const { timeOf } = await import("#datasets/format.ts");
      choose(surroundings, options, (catalogue) =>
        catalogue.publish(version, timeOf(surroundings.now())),
      );
    });
}

function addRollback(datasets: Command, surroundings: Surroundings): void {
  datasets
    .command("rollback")
    .description("serve the dataset before the current one again")
    .option(...jsonOption)
    .action(async (options: OutputOptions) => {
      const { rollBack } = await import("#datasets/publish.ts");
      choose(surroundings, options, (catalogue) => rollBack(catalogue, surroundings.now()));
    });
}

function choose(
  surroundings: Surroundings,
  options: OutputOptions,
  change: (catalogue: Catalogue) => Generation,
): void {
  const dataDir = dataDirOf(surroundings);
  const catalogue = openDatasets(dataDir);
  const lock = takeImportLock(dataDir);
  try {
    const { version, published_at } = change(catalogue);
    printResult(
      surroundings,
      options,
      { version, published_at },
      () => `${version} is the current dataset.`,
    );
  } catch (error) {
    throw dataFolderFault(error, dataDir);
  } finally {
    lock.release();
  }
}

const recordTotal = ({ records }: Generation) => Object.values(records).reduce((a, b) => a + b);
