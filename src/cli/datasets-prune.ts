/** Deletes old datasets after a publication, and reports which were deleted. */
import { readConfig } from "#config.ts";
import type { Pruned } from "#datasets/prune.ts";
import type { DatasetStore } from "#datasets/store.ts";
import { type Actor, service } from "#store/audit.ts";
import type { CliContext } from "./command.ts";
import { noteChange } from "./data-dir.ts";

export const freedBytes = ({ removed }: Pruned) =>
  removed.reduce((sum, { bytes }) => sum + bytes, 0);

export const countText = ({ removed: { length } }: Pruned) =>
  `${length} dataset${length === 1 ? "" : "s"}`;

/** Datasets deleted after a publication, as reported by its command. */
export interface Cleared {
  versions: string[];
  /** Sentence about the datasets; empty if none was deleted. */
  text: string;
}

/**
 * Deletes datasets and steps that DATASETS_KEEP and CHANGES_DAYS no longer cover. The publication is done, so a failure
 * here is only a warning. The caller holds the import lock.
 */
export async function pruneAfterPublication(
  context: CliContext,
  store: DatasetStore,
): Promise<Cleared> {
  const { datasetsKeep: keep } = readConfig(context.environment);
  await store
    .forgetSteps()
    .catch((error: Error) => warn(context, "the changes of old publications", error));
  if (keep === 0) return { versions: [], text: "" };
  const pruned = await tryToPrune(context, store, keep);
  await notePruned(context, pruned, service);
  const versions = pruned.removed.map(({ version }) => version);
  const text =
    versions.length === 0
      ? ""
      : `Deleted ${countText(pruned)} beyond the newest ${keep} (DATASETS_KEEP), which freed ${freedBytes(pruned).toLocaleString("en-US")} bytes.`;
  return { versions, text };
}

const warn = ({ reportError }: CliContext, what: string, { message }: Error): void =>
  reportError(
    `warning: ${what} could not be deleted: ${message}. The next publication or 'gp-records datasets prune' tries again.`,
  );

async function tryToPrune(context: CliContext, store: DatasetStore, keep: number): Promise<Pruned> {
  const { prune } = await import("#datasets/prune.ts");
  try {
    const pruned = await prune(store, { keep, isAutomatic: true, isDryRun: false });
    for (const { version, error } of pruned.failures)
      warn(context, `the old dataset ${version}`, error);
    return pruned;
  } catch (error) {
    warn(context, "old datasets", error as Error);
    return { removed: [], pinned: [], failures: [] };
  }
}

export async function notePruned(
  context: CliContext,
  { removed }: Pruned,
  actor: Actor,
): Promise<void> {
  for (const { version: subject } of removed)
    await noteChange(context, { actor, action: "dataset.pruned", subject });
}
