/**
 * Publishes datasets for commands. Before a publication, applies suppressions that a killed command or a restore left
 * unapplied. Afterwards, notes the publication and deletes old datasets.
 */
import { existsSync } from "node:fs";
import { readConfig } from "#config.ts";
import { prune, type Pruned } from "#datasets/prune.ts";
import type { ImportRequest } from "#datasets/publish.ts";
import type { DatasetStore } from "#datasets/store.ts";
import type { Suppression } from "#datasets/suppressions.ts";
import type { Withdrawn } from "#datasets/withdraw.ts";
import { type Actor, service } from "#store/audit.ts";
import { controlFile } from "#store/sqlite-file.ts";
import type { ControlStore } from "#store/stores.ts";
import { counted, grouped } from "#words.ts";
import type { CliContext } from "./command.ts";
import { type Change, noteChange, withControl } from "./data-dir.ts";
import { changeDatasets } from "./datasets-folder.ts";

/** Changes the datasets under the import lock. First applies all unapplied suppressions, unless it is a dry run. */
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
 * @returns all suppressions; none if there is no control store yet.
 */
export async function applyPending(context: CliContext, store: DatasetStore, isDryRun = false) {
  const { dataDir, databaseUrl } = readConfig(context.environment);
  if (databaseUrl === null && !existsSync(controlFile(dataDir))) return [];
  const { listSuppressions } = await import("#datasets/suppressions.ts");
  return withControl(context, async (control) => {
    if (!isDryRun) await applySuppressions(context, store, control);
    return listSuppressions(control.database);
  });
}

/** Runs `withdraw` to apply suppressions, or to try one. Notes any dataset it publishes, and deletes old datasets. */
export async function applySuppressions(
  context: CliContext,
  store: DatasetStore,
  control: ControlStore,
  trial: Suppression | null = null,
): Promise<Withdrawn | null> {
  const { withdraw } = await import("#datasets/withdraw.ts");
  const withdrawn = await withdraw(store, control, context.now(), trial);
  const version = withdrawn?.published?.version;
  if (version !== undefined)
    await noteAndPrune(context, store, { action: "dataset.published", subject: version });
  return withdrawn;
}

export const freedBytes = ({ removed }: Pruned) =>
  removed.reduce((sum, { bytes }) => sum + bytes, 0);

export const countText = ({ removed: { length } }: Pruned) => counted(length, "dataset");

/**
 * Writes a publication to the audit log, and deletes datasets and steps that DATASETS_KEEP and CHANGES_DAYS no longer
 * cover. The publication is done, so a failure here is only a warning. The caller holds the import lock.
 * @returns `versions` of the deleted datasets, and `text`, a sentence about them. Both are empty if none was deleted.
 */
export async function noteAndPrune(context: CliContext, store: DatasetStore, publication: Change) {
  await noteChange(context, publication);
  const { datasetsKeep: keep } = readConfig(context.environment);
  const warn = (what: string, { message }: Error) =>
    context.reportError(
      `warning: The dataset is published, but ${what} could not be deleted (${message}). Correct the cause; the next publication, or 'gp-records datasets prune', tries again.`,
    );
  let pruned: Pruned = { removed: [], pinned: [], failures: [] };
  // A damaged list of publications must not prevent the deletion of old datasets.
  await store.forgetSteps().catch((error: Error) => warn("the changes of old publications", error));
  try {
    if (keep > 0) pruned = await prune(store, { keep, isAutomatic: true, isDryRun: false });
  } catch (error) {
    warn("old datasets", error as Error);
  }
  for (const { version, error } of pruned.failures) warn(`the old dataset ${version}`, error);
  await notePruned(context, pruned, service);
  const versions = pruned.removed.map(({ version }) => version);
  const sentence = `Deleted ${countText(pruned)} older than the newest ${keep} (DATASETS_KEEP) and freed ${grouped(freedBytes(pruned))} bytes.`;
  return { versions, text: versions.length === 0 ? "" : sentence };
}

export async function notePruned(context: CliContext, { removed }: Pruned, actor: Actor) {
  for (const { version: subject } of removed)
    await noteChange(context, { actor, action: "dataset.pruned", subject });
}
