/** `gp-records usage`: adds up the requests of a month, for bills and reports. */
import { InvalidArgumentError } from "commander";
import type { Column } from "#csv.ts";
import { isMonth } from "#store/durations.ts";
import {
  totalsColumns,
  type ExportedUsage,
  exportMonth,
  type ExportPart,
  exportParts,
} from "#usage/totals.ts";
import { command, family, neededOption } from "./command.ts";
import { withUsage } from "./data-dir.ts";
import { table } from "./output.ts";
import { accountColumns, printRows, readAccountNames, rowOptions } from "./row-output.ts";

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
    month: neededOption("--month <month>", "such as 2026-11", parseMonth),
    by: neededOption("--by <parts>", `columns to add up by: ${exportParts.join(",")}`, parseParts),
    ...rowOptions,
  },
  example: "usage export --month 2026-11 --by account,operation --csv",
  run: async ({ month, by, ...format }, context) => {
    const namesOf = await readAccountNames(context);
    const columns: readonly Column<ExportedUsage>[] = [
      ...by.flatMap((part) =>
        part === "account"
          ? accountColumns(({ account }: ExportedUsage) => namesOf(account!))
          : [{ name: part, of: (row: ExportedUsage) => row[part] }],
      ),
      ...totalsColumns.map(({ name, of }) => ({
        name,
        of: ({ totals }: ExportedUsage) => of(totals),
      })),
    ];
    const rows = await withUsage(context, (usage) => exportMonth(usage, { month, by }));
    const text = () =>
      table(
        columns.map(({ name }) => name.replaceAll("_", " ")),
        rows.map((row) => columns.map((column) => String(column.of(row) ?? ""))),
        `There were no requests in ${month}.`,
      );
    await printRows(context, format, { columns, text }, [rows]);
  },
});

export const usageCommands = family("usage", "show how much the service was used", [exportCommand]);
