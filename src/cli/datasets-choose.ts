/** `gp-records datasets publish` and `rollback`: choose which generation is served. */
import type { Command } from "commander";
import type { Catalogue, Generation } from "#datasets/catalogue.ts";
import { publishVersion, rollBack } from "#datasets/choose.ts";
import type { AuditAction } from "#store/audit.ts";
import { changeDatasets } from "./datasets-folder.ts";
import { pruneAfterPublication } from "./datasets-prune.ts";
import { noteChange } from "./note-change.ts";
import { jsonOption, type OutputOptions, printResult } from "./output.ts";
import type { Surroundings } from "./surroundings.ts";

interface PublishOptions extends OutputOptions {
  discardNewer?: boolean;
}

export function addPublish(datasets: Command, surroundings: Surroundings): void {
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
      choose(surroundings, options, "dataset.published", (catalogue) =>
        publishVersion(catalogue, {
          version,
          discardsNewer: options.discardNewer === true,
          nowMilliseconds: surroundings.now(),
        }),
      ),
    );
}

export function addRollback(datasets: Command, surroundings: Surroundings): void {
  datasets
    .command("rollback")
    .description("serve the dataset again that was served before the current one was published")
    .option(...jsonOption)
    .action((options: OutputOptions) =>
      choose(surroundings, options, "dataset.rolled_back", (catalogue) =>
        rollBack(catalogue, surroundings.now()),
      ),
    );
}

async function choose(
  surroundings: Surroundings,
  options: OutputOptions,
  action: AuditAction,
  change: (catalogue: Catalogue) => Generation,
): Promise<void> {
  await changeDatasets(surroundings, async (catalogue) => {
    const { version, published_at } = change(catalogue);
    await noteChange(surroundings, { action, subject: version });
    const { versions: pruned, text } = await pruneAfterPublication(surroundings, catalogue);
    printResult(surroundings, options, { version, published_at, pruned }, () =>
      [`${version} is the current dataset.`, text].join("\n").trimEnd(),
    );
  });
}
