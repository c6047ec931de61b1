/** `gp-records vocabulary`: the values that the records of a dataset carry, as `/vocabulary` answers them. */
import type { Command } from "commander";
import type { Vocabulary } from "#operations/vocabulary.ts";
import { CommandFault, exitCodes } from "./command-fault.ts";
import type { CliContext } from "./context.ts";
import { noDataset } from "./datasets.ts";
import { lookAtDatasets } from "./datasets-folder.ts";
import { jsonOption, type OutputOptions, printResult, table } from "./output.ts";

export function addVocabularyCommand(program: Command, context: CliContext): void {
  program
    .command("vocabulary")
    .description("every tag, theme and market with its number of GPs, and the closed lists")
    .argument("[version]", "of a dataset; the current one if left out")
    .option(...jsonOption)
    .action((version: string | undefined, options: OutputOptions) =>
      lookAtDatasets(context, async (datasets) => {
        const wanted = version ?? datasets.currentVersion();
        if (wanted === null) throw new CommandFault(exitCodes.conflict, noDataset);
        await datasets.fetch(wanted);
        // Loaded here, so that no other command waits for it.
        const { loadGeneration } = await import("#datasets/load.ts");
        const { vocabularyOf } = await import("#operations/vocabulary.ts");
        const vocabulary = vocabularyOf(
          loadGeneration(datasets.pathOf(wanted), datasets.find(wanted)),
        );
        printResult(context, options, vocabulary, () => tablesOf(vocabulary));
      }),
    );
}

function tablesOf({ data: { enums, ...lists } }: Vocabulary): string {
  const open = Object.entries(lists).flatMap(([name, values]) =>
    values.map(({ value, gps_total: total }) => [name, value, total.toLocaleString("en-US")]),
  );
  const closed = enums.flatMap(({ members, values }) =>
    values.map(({ value, meaning }) => [members[0]!, value, meaning]),
  );
  return `${table(["list", "value", "gps"], open)}\n\n${table(["closed list", "value", "meaning"], closed)}`;
}
