/** Applies suppressions in commands that publish, including those that a killed command left unapplied. */
import { existsSync } from "node:fs";
import { readConfig } from "#config.ts";
import type { ImportRequest } from "#datasets/publish.ts";
import type { DatasetStore } from "#datasets/store.ts";
import type { Suppression } from "#datasets/suppressions.ts";
import type { Withdrawn } from "#datasets/withdraw.ts";
import { controlFile } from "#store/sqlite-file.ts";
import type { ControlStore } from "#store/stores.ts";
import type { CliContext } from "./command.ts";
import { withControl } from "./data-dir.ts";
import { changeDatasets } from "./datasets-folder.ts";
import { noteAndPrune } from "./datasets-prune.ts";

/** Changes the datasets under the import lock, after applying all unapplied suppressions unless it is a dry run. */
export const changePublished = <R>(
  context: CliContext,
  { isDryRun }: { isDryRun: boolean },
  change: (
    store: DatasetStore,
    kept: Pick<ImportRequest, "suppressions" | "rememberGps">,
  ) => Promise<R>,
): Promise<R> =>
  changeDatasets(context, async (store) => {
    const suppressions = await applyPending(context, store, isDryRun);
    return change(store, {
      suppressions,
      async rememberGps(covered) {
        const { rememberGps } = await import("#datasets/suppressions.ts");
        return withControl(context, (control) =>
          control.write((transaction) => rememberGps(transaction, covered)),
        );
      },
    });
  });

/**
 * Applies suppressions that are yet to be applied, unless it is a dry run. The caller holds the import lock.
 * @returns all suppressions.
 */
export async function applyPending(
  context: CliContext,
  store: DatasetStore,
  isDryRun = false,
): Promise<readonly Suppression[]> {
  const { dataDir, databaseUrl } = readConfig(context.environment);
  if (databaseUrl === null && !existsSync(controlFile(dataDir))) return [];
  const { listSuppressions } = await import("#datasets/suppressions.ts");
  return withControl(context, async (control) => {
    if (!isDryRun) await applySuppressions(context, store, control);
    return listSuppressions(control.database);
  });
}

/** Applies suppressions as `withdraw` does, and records the publication. */
export async function applySuppressions(
  context: CliContext,
  store: DatasetStore,
  control: ControlStore,
): Promise<Withdrawn | null> {
  const { withdraw } = await import("#datasets/withdraw.ts");
  const withdrawn = await withdraw(store, control, context.now());
  const version = withdrawn?.published?.version;
  if (version !== undefined)
    await noteAndPrune(context, store, { action: "dataset.published", subject: version });
  return withdrawn;
}
