/**
 * `gp-records requests` and `gp-records usage` search the request log and add up requests for bills and reports;
 * `gp-records audit` shows who changed what.
 */
import { InvalidArgumentError } from "commander";
import { listAccounts, requireAccount } from "#accounts/accounts.ts";
import { type Column, csvHeading, csvRow, jsonRow } from "#csv.ts";
import { auditActions, listAudit } from "#store/audit.ts";
import { DomainError } from "#store/store-fault.ts";
import { isMonth } from "#store/durations.ts";
import {
  type LoggedRequest,
  readRequests,
  requestColumns,
  requestsInPages,
} from "#usage/request-log.ts";
import {
  type ExportedUsage,
  exportMonth,
  type ExportPart,
  exportParts,
  totalsColumns,
} from "#usage/totals.ts";
import {
  argument,
  choice,
  type CliContext,
  command,
  family,
  flag,
  jsonFlag,
  neededOption,
  option,
} from "./command.ts";
import { withControl, withUsage } from "./data-dir.ts";
import { parseCount, parseMoment } from "./option-values.ts";
import { table } from "./output.ts";

const rowOptions = {
  csv: flag("--csv", "print CSV with a header row", "json"),
  json: jsonFlag,
};

const limitDefault = 100;

const requestOptions = {
  since: option("--since <time>", "only since a day, a time or an age such as 7d", parseMoment),
  until: option("--until <time>", "only before a day, a time or an age such as 7d", parseMoment),
  limit: option("--limit <n>", `number of requests (default: ${limitDefault})`, parseCount),
  ...rowOptions,
};

const find = command({
  name: "find",
  description: "show the requests with this id, newest first",
  args: { id: argument("<id>", "request_id of an answer") },
  options: {
    account: option("--account <account>", "only requests of this account, by name or id"),
    ...requestOptions,
  },
  example: "requests find req_01JD4Z6T0V8M3Q5N7R9S1W2X4Y",
  run: async ({ id, account, limit = limitDefault, ...given }, context) => {
    const owner = account === undefined ? null : await numberOf(context, account);
    const output = await outputOf(context);
    const filter = { requestId: id, ...periodOf(given, context) };
    const { requests } = await withUsage(context, (usage) =>
      readRequests(usage, { account: owner, filter, limit }),
    );
    if (requests.length === 0)
      throw new DomainError(
        "not_found",
        `The request log has no matching request with the id '${id.slice(0, 100)}'. Check the id, and any --account, --since and --until. Only requests with an accepted key are logged. A request appears a second or two after its answer, and is kept for USAGE_LOG_DAYS days, or until USAGE_LOG_ROWS newer ones are in the log.`,
      );
    await printRows(context, given, output, [requests]);
  },
});

const list = command({
  name: "list",
  description: "show the requests of an account, newest first",
  options: { account: neededOption("--account <account>", "name or id"), ...requestOptions },
  example: "requests list --account Acme --since 24h",
  run: async ({ account: idOrName, limit: countMax = limitDefault, ...given }, context) => {
    const account = await numberOf(context, idOrName);
    const output = await outputOf(context);
    const order = { account, filter: periodOf(given, context), countMax };
    await withUsage(context, (usage) =>
      printRows(context, given, output, requestsInPages(usage, order)),
    );
  },
});

type Moment = ReturnType<typeof parseMoment> | undefined;

const periodOf = ({ since, until }: { since: Moment; until: Moment }, { now }: CliContext) => ({
  since: since?.(now()),
  until: until?.(now()),
});

const numberOf = async (context: CliContext, account: string): Promise<number> =>
  withControl(context, async ({ database }) => (await requireAccount(database, account)).number);

async function outputOf(context: CliContext): Promise<RowOutput<LoggedRequest>> {
  const accountColumns = await readAccountColumns(context, ({ account }: LoggedRequest) => account);
  return {
    columns: [...accountColumns, ...requestColumns],
    shown: ["at", "request_id", "key", "operation", "status", "ms", "bytes", "problem"],
    none: "The request log has no matching requests from this account.",
  };
}

export const requestCommands = family(
  "requests",
  "show recorded requests, as far back as USAGE_LOG_DAYS goes",
  [find, list],
);

function parseMonth(text: string): string {
  if (isMonth(text)) return text;
  throw new InvalidArgumentError("Write a year and a month, such as 2026-11.");
}

function parseParts(text: string): readonly ExportPart[] {
  const parts = text.split(",").map((part) => part.trim());
  const isPart = (part: string): part is ExportPart => exportParts.some((one) => one === part);
  if (parts.every(isPart)) return exportParts.filter((part) => parts.includes(part));
  throw new InvalidArgumentError(
    `Write one or more of ${exportParts.join(", ")}, separated by commas.`,
  );
}

const exportCommand = command({
  name: "export",
  description: "add up the requests of a month in UTC",
  options: {
    month: neededOption("--month <month>", "month to add up, such as 2026-11", parseMonth),
    by: neededOption(
      "--by <parts>",
      `what to add up by, one or more of ${exportParts.join(",")}`,
      parseParts,
    ),
    ...rowOptions,
  },
  example: "usage export --month 2026-11 --by account,operation --csv",
  run: async ({ month, by, ...format }, context) => {
    const accountColumns = await readAccountColumns(context, (row: ExportedUsage) => row.account!);
    const columns: readonly Column<ExportedUsage>[] = [
      ...by.flatMap((part) =>
        part === "account"
          ? accountColumns
          : [{ name: part, of: (row: ExportedUsage) => row[part] }],
      ),
      ...totalsColumns.map(({ name, of }) => ({
        name,
        of: ({ totals }: ExportedUsage) => of(totals),
      })),
    ];
    const rows = await withUsage(context, (usage) => exportMonth(usage, { month, by }));
    const shown = columns.map(({ name }) => name);
    const none = `No requests were recorded in ${month}.`;
    await printRows(context, format, { columns, shown, none }, [rows]);
  },
});

export const usageCommands = family("usage", "show how much the service was used", [exportCommand]);

export const auditCommands = family("audit", "show who changed what", [
  command({
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
  }),
]);

interface RowOutput<Row> {
  columns: readonly Column<Row>[];
  /** Names of the columns in the table for people. CSV and JSON have all columns. */
  shown: readonly string[];
  /** Text for people if there are no rows. */
  none: string;
}

/** Prints rows. CSV is printed page by page, so it can be larger than memory. */
async function printRows<Row>(
  { print }: CliContext,
  { csv, json }: Readonly<Record<keyof typeof rowOptions, boolean>>,
  { columns, shown, none }: RowOutput<Row>,
  pages: AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>,
): Promise<void> {
  if (csv) {
    print(csvHeading(columns));
    for await (const rows of pages)
      if (rows.length > 0) print(rows.map((row) => csvRow(columns, row)).join(""));
    return;
  }
  const all = (await Array.fromAsync(pages)).flat().map((row) => jsonRow(columns, row));
  print(json ? JSON.stringify(all) : table(all, shown, none));
}

/** Returns the columns with the id and name of each row's account. An account lost in a restore is `unknown`. */
async function readAccountColumns<Row>(
  context: CliContext,
  numberOf: (row: Row) => number,
): Promise<readonly Column<Row>[]> {
  const accounts = await withControl(context, (control) =>
    listAccounts(control, { withClosed: true }),
  );
  const known = new Map(accounts.map((account) => [account.number, account]));
  return [
    { name: "account", of: (row) => known.get(numberOf(row))?.id ?? `unknown (${numberOf(row)})` },
    { name: "account_name", of: (row) => known.get(numberOf(row))?.name ?? "" },
  ];
}
