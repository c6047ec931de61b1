/** Writes into the audit log what a command did outside of the control store: to datasets, which are files. */
import { type Actor, type AuditAction, operator, writeAudit } from "#store/audit.ts";
import type { CliContext } from "./context.ts";
import { withControl } from "./data-dir.ts";

interface Change {
  /** Whoever gave the command, if left out. */
  actor?: Actor;
  action: AuditAction;
  subject: string;
  detail?: object;
}

/**
 * What is done is done: where the log cannot be written, that is said, and the command is none the less a success.
 * @param subject version of a dataset.
 */
export async function noteChange(
  context: CliContext,
  { actor = operator, action, subject, detail = {} }: Change,
): Promise<void> {
  const entry = { actor, action, subject, detail, now: context.now() };
  try {
    await withControl(context, (control) =>
      control.write((transaction) => writeAudit(transaction, entry)),
    );
  } catch (error) {
    context.reportError(
      `warning: ${action} of ${subject} is not in the audit log: ${(error as Error).message}`,
    );
  }
}
