/** Opens the stores that DATA_DIR and DATABASE_URL name, and records a command's changes to datasets. */
import { finishRestore } from "#backups/restore-folders.ts";
import { type Config, readConfig } from "#config.ts";
import { type Actor, type AuditAction, operator, writeAudit } from "#store/audit.ts";
import type { ControlStore, UsageStore } from "#store/stores.ts";
import type { CliContext } from "./command.ts";

/** Opens the control store for some work. Creates and migrates it if needed, unless it is in PostgreSQL. */
export const withControl = <R>(context: CliContext, work: (control: ControlStore) => Promise<R>) =>
  withStore(context, ({ openControl }) => openControl, work);

export const withUsage = <R>(context: CliContext, work: (usage: UsageStore) => Promise<R>) =>
  withStore(context, ({ openUsage }) => openUsage, work);

type Stores = typeof import("#store/stores.ts");

/** Finishes an interrupted restore, and opens a store for some work. Loads the stores' code only when called. */
async function withStore<S extends ControlStore | UsageStore, R>(
  { environment }: CliContext,
  openOf: (stores: Stores) => (dataDir: string, config: Config) => Promise<S>,
  work: (store: S) => Promise<R>,
): Promise<R> {
  const config = readConfig(environment);
  finishRestore(config.dataDir);
  const store = await openOf(await import("#store/stores.ts"))(config.dataDir, config);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** A change to datasets, to be noted in the audit log. */
export interface Change {
  action: AuditAction;
  /** Author of the change; the operator by default. */
  actor?: Actor;
  /** Version of a dataset. */
  subject: string;
  detail?: object;
}

/** Writes a change to the audit log. The change is already done, so a failure is only a warning. */
export async function noteChange(
  context: CliContext,
  { action, actor = operator, ...change }: Change,
): Promise<void> {
  const entry = { actor, ...change, now: context.now() };
  try {
    await withControl(context, (control) =>
      control.write((transaction) => writeAudit(transaction, action, entry)),
    );
  } catch (error) {
    context.reportError(
      `warning: The change is done, but its entry (${action} of ${change.subject}) could not be written to the audit log: ${(error as Error).message}`,
    );
  }
}
