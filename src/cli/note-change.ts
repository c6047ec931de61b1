/** Writes into the audit log what a command did outside of the control store: to datasets, which are files. */
import { type Actor, type AuditAction, operator, writeAudit } from "#store/audit.ts";
import type { Surroundings } from "./context.ts";
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
  surroundings: Surroundings,
  { actor = operator, action, subject, detail = {} }: Change,
): Promise<void> {
  const entry = { actor, action, subject, detail, now: surroundings.now() };
  try {
    await withControl(surroundings, (control) =>
      control.write((transaction) => writeAudit(transaction, entry)),
    );
  } catch (error) {
    surroundings.complain(
      `warning: ${action} of ${subject} is not in the audit log: ${(error as Error).message}`,
    );
  }
}
