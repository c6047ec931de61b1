/** `gp-records audit`: shows who changed what. */
import { requireAccount } from "#accounts/accounts.ts";
import { listAudit, auditActions } from "#store/audit.ts";
import { choice, command, family, option } from "./command.ts";
import { withControl } from "./data-dir.ts";
import { parseCount, parseMoment } from "./option-values.ts";
import { table } from "./output.ts";

const limitDefault = 100;

const list = command({
  name: "list",
  description: "show entries of the audit log, newest first",
  options: {
    account: option("--account <account>", "only entries of this account, by name or id"),
    action: choice("--action <action>", "only entries of this action", auditActions),
    since: option("--since <time>", "only since a day, a time or an age such as 7d", parseMoment),
    limit: option("--limit <n>", `number of entries (default: ${limitDefault})`, parseCount),
  },
  example: "audit list --account Acme --since 7d",
  run: ({ account, action, since, limit = limitDefault }, context) =>
    withControl(context, async ({ database }) => {
      const owner = account === undefined ? undefined : await requireAccount(database, account);
      const filter = { account: owner?.number, action, since: since?.(context.now()) };
      return listAudit(database, { ...filter, limit });
    }),
  text: (entries) =>
    table(
      entries.map(({ detail, ...entry }) => {
        return { ...entry, detail: Object.keys(detail).length === 0 ? null : detail };
      }),
      ["at", "actor", "action", "account", "subject", "detail"],
      "The audit log has no matching entry.",
    ),
});

export const auditCommands = family("audit", "show who changed what", [list]);
