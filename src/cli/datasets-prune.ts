/** Notes publications, and deletes old datasets after them. */
import { readConfig } from "#config.ts";
import { prune, type Pruned } from "#datasets/prune.ts";
import type { DatasetStore } from "#datasets/store.ts";
import { type Actor, service } from "#store/audit.ts";
import { counted, grouped } from "#words.ts";
import type { CliContext } from "./command.ts";
import { type Change, noteChange } from "./data-dir.ts";

export const freedBytes = ({ removed }: Pruned) =>
  removed.reduce((sum, { bytes }) => sum + bytes, 0);

export const countText = ({ removed: { length } }: Pruned) => counted(length, "dataset");

/** Datasets deleted after a publication, as reported by its command. */
export interface Cleared {
  versions: string[];
  /** Sentence about the datasets; empty if none was deleted. */
  text: string;
}

/**
 * Writes a publication to the audit log, and deletes datasets and steps that DATASETS_KEEP and CHANGES_DAYS no longer
 * cover. The publication is done, so a failure here is only a warning. The caller holds the import lock.
 */
export async function noteAndPrune(
  context: CliContext,
  store: DatasetStore,
  publication: Change,
): Promise<Cleared> {
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
  const text =
    versions.length === 0
      ? ""
      : `Deleted ${countText(pruned)} older than the newest ${keep} (DATASETS_KEEP) and freed ${grouped(freedBytes(pruned))} bytes.`;
  return { versions, text };
}

export async function notePruned(
  context: CliContext,
  { removed }: Pruned,
  actor: Actor,
): Promise<void> {
  for (const { version: subject } of removed)
    await noteChange(context, { actor, action: "dataset.pruned", subject });
}
