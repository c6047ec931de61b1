/** `gp-records datasets prune`: deletes old datasets and says what that freed. */
import { InvalidArgumentError, type Command } from "commander";
import { changeDatasets } from "./datasets-folder.ts";
import { noteChange } from "./note-change.ts";
import { jsonOption, type OutputOptions, printResult } from "./output.ts";
import type { Surroundings } from "./surroundings.ts";

interface PruneOptions extends OutputOptions {
  keep?: number;
  dryRun?: boolean;
}

export function addPrune(datasets: Command, surroundings: Surroundings): void {
  datasets
    .command("prune")
    .description("delete old datasets; never the current one, nor what a server may be opening")
    .option(
      "--keep <n>",
      "how many of those published are kept, the newest (default: 5)",
      parseKeep,
    )
    .option("--dry-run", "tell what would be deleted and delete nothing")
    .option(...jsonOption)
    .action(async (options: PruneOptions) => {
      const { keptByDefault, prune } = await import("#datasets/prune.ts");
      const isDryRun = options.dryRun === true;
      const removed = changeDatasets(surroundings, (catalogue) =>
        prune(catalogue, {
          keep: options.keep ?? keptByDefault,
          isDryRun,
          nowMilliseconds: surroundings.now(),
        }),
      );
      const versions = removed.map(({ version }) => version);
      const bytes = removed.reduce((sum, one) => sum + one.bytes, 0);
      if (!isDryRun)
        for (const subject of versions)
          await noteChange(surroundings, { action: "dataset.pruned", subject });
      printResult(surroundings, options, { removed: versions, bytes, dry_run: isDryRun }, () =>
        pruneText(versions, bytes, isDryRun),
      );
    });
}

function pruneText(versions: readonly string[], bytes: number, isDryRun: boolean): string {
  if (versions.length === 0) return "Every dataset there is has to be kept; nothing was deleted.";
  const what = `${versions.length} dataset${versions.length === 1 ? "" : "s"}`;
  const size = `${bytes.toLocaleString("en-US")} bytes`;
  const sum = isDryRun
    ? `Would delete ${what} and free ${size}.`
    : `Deleted ${what}, which freed ${size}.`;
  return [...versions, sum].join("\n");
}

function parseKeep(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text))
    throw new InvalidArgumentError("Write how many datasets to keep, 1 or more.");
  return Number(text);
}
