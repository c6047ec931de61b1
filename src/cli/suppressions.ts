/** Reads the suppressions for commands that publish, and finishes what a killed command left of them. */
import { existsSync } from "node:fs";
import { readConfig } from "#config.ts";
import type { DatasetStore } from "#datasets/store.ts";
import type { Suppression } from "#datasets/suppressions.ts";
import type { Withdrawn } from "#datasets/withdraw.ts";
import { controlFile } from "#store/sqlite-file.ts";
import type { CliContext } from "./command.ts";
import { noteChange, withControl } from "./data-dir.ts";
import { changeDatasets } from "./datasets-folder.ts";
import { noteAndPrune } from "./datasets-prune.ts";

/** Changes the datasets under the import lock, after applying suppressions that are yet to be applied. */
export const changePublished = <R>(
  context: CliContext,
  change: (store: DatasetStore, suppressions: readonly Suppression[]) => Promise<R>,
): Promise<R> =>
  changeDatasets(context, async (store) => {
    const suppressions = await readSuppressions(context);
    await applySuppressions(context, store, suppressions);
    return change(store, suppressions);
  });

/** Lists all suppressions. Creates no control store. */
async function readSuppressions(context: CliContext): Promise<Suppression[]> {
  const { dataDir, databaseUrl } = readConfig(context.environment);
  if (databaseUrl === null && !existsSync(controlFile(dataDir))) return [];
  const { listSuppressions } = await import("#datasets/suppressions.ts");
  return withControl(context, ({ database }) => listSuppressions(database));
}

/** Applies the suppressions that are yet to be applied. Returns null if there are none. The caller holds the import lock. */
export async function applySuppressions(
  context: CliContext,
  store: DatasetStore,
  suppressions: readonly Suppression[],
): Promise<Withdrawn | null> {
  const pending = suppressions.filter(({ applied_at }) => applied_at === null);
  if (pending.length === 0) return null;
  const { noteApplied } = await import("#datasets/suppressions.ts");
  const { withdraw } = await import("#datasets/withdraw.ts");
  const withdrawn = await withdraw(store, {
    suppressions,
    nowMilliseconds: context.now(),
    onRemove: (subject, suppression) =>
      noteChange(context, { action: "dataset.pruned", subject, detail: { suppression } }),
  });
  const { published } = withdrawn;
  if (published !== null)
    await noteAndPrune(context, store, { action: "dataset.published", subject: published.version });
  await withControl(context, (control) =>
    control.write((transaction) => noteApplied(transaction, pending, context.now())),
  );
  return withdrawn;
}
