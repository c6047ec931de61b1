/** Writes into the audit log what a command did to datasets, which are files outside the control store. */
import { type Actor, type AuditAction, operator, writeAudit } from "#store/audit.ts";
import type { CliContext } from "./command.ts";
import { withControl } from "./data-dir.ts";

interface Change {
  /** The operator if left out. */
  actor?: Actor;
  action: AuditAction;
  subject: string;
  detail?: object;
}

/**
 * The change is done: where the log cannot be written that is a warning, and the command still succeeds.
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
