/** `gp-records audit`: who changed what. */
import { type Command, Option } from "commander";
import { requireAccount } from "#accounts/find-account.ts";
import { type AuditEntry, listAudit } from "#accounts/list-audit.ts";
import { type AuditAction, auditActions } from "#store/audit.ts";
import type { CliContext } from "./context.ts";
import { withControl } from "./data-dir.ts";
import { momentParser, parseCount } from "./option-values.ts";
import { jsonOption, type OutputOptions, printResult, table, timeText } from "./output.ts";

interface AuditOptions extends OutputOptions {
  account?: string;
  action?: AuditAction;
  since?: number;
  limit?: number;
  ndjson?: boolean;
}

const limitDefault = 100;

export function addAuditCommands(program: Command, context: CliContext): void {
  program
    .command("audit")
    .description("show who changed what")
    .command("list")
    .description("entries of the audit log, the newest first")
    .option("--account <account>", "only those of this account, by name or id")
    .addOption(new Option("--action <action>", "only this one").choices(auditActions))
    .option(
      "--since <time>",
      "only from then on: a day, a time, or how long ago, such as 7d",
      momentParser(context.now),
    )
    .option("--limit <n>", `how many at most (default: ${limitDefault})`, parseCount)
    .option("--ndjson", "print a JSON object a line")
    .option(...jsonOption)
    .action(async (options: AuditOptions) => {
      const { account, action, since, limit = limitDefault } = options;
      const entries = await withControl(context, async ({ database }) => {
        const owner = account === undefined ? undefined : await requireAccount(database, account);
        return listAudit(database, { account: owner?.number, action, since, limit });
      });
      if (options.ndjson === true)
        for (const entry of entries) context.print(JSON.stringify(entry));
      else printResult(context, options, entries, () => entriesText(entries));
    });
}

function entriesText(entries: readonly AuditEntry[]): string {
  if (entries.length === 0) return "No entry.";
  return table(
    ["at", "actor", "action", "account", "subject", "detail"],
    entries.map(({ at, actor, action, account, subject, detail }) => [
      timeText(at),
      actor,
      action,
      account ?? "-",
      subject ?? "-",
      Object.keys(detail).length === 0 ? "" : JSON.stringify(detail),
    ]),
  );
}
