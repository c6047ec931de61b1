/** `gp-records usage`: what was asked in a month, for bills and reports. */
import { InvalidArgumentError } from "commander";
import { type Column, csvHeading, csvRow, jsonRow } from "#csv.ts";
import { isMonth } from "#store/durations.ts";
import {
  totalsColumns,
  type ExportedUsage,
  exportMonth,
  type ExportPart,
  exportParts,
} from "#usage/totals.ts";
import { readAccountColumns } from "./account-names.ts";
import { command, family, flag, neededOption } from "./command.ts";
import { withUsage } from "./data-dir.ts";
import { table } from "./output.ts";

function parseMonth(text: string): string {
  if (isMonth(text)) return text;
  throw new InvalidArgumentError("Write a year and a month, such as 2026-11.");
}

function parseParts(text: string): readonly ExportPart[] {
  const parts = text.split(",").map((part) => part.trim());
  const isPart = (part: string): part is ExportPart => exportParts.some((one) => one === part);
  if (parts.every(isPart)) return exportParts.filter((part) => parts.includes(part));
  throw new InvalidArgumentError(`Write one or more of ${exportParts.join(", ")}, with commas.`);
}

const exportCommand = command({
  name: "export",
  description: "add up the requests of a month of UTC",
  options: {
    month: neededOption("--month <month>", "such as 2026-11", parseMonth),
    by: neededOption("--by <parts>", `columns to add up by: ${exportParts.join(",")}`, parseParts),
    csv: flag("--csv", "print CSV, its column names first", "json"),
  },
  example: "usage export --month 2026-11 --by account,operation --csv",
  run: async ({ month, by, csv }, context) => {
    const accounts = await readAccountColumns(context, ({ account }: ExportedUsage) => account!);
    const columns: readonly Column<ExportedUsage>[] = [
      ...by.flatMap((part) =>
        part === "account" ? accounts : [{ name: part, of: (row: ExportedUsage) => row[part] }],
      ),
      ...totalsColumns.map(({ name, of }) => ({
        name,
        of: ({ totals }: ExportedUsage) => of(totals),
      })),
    ];
    const rows = await withUsage(context, (usage) => exportMonth(usage, { month, by }));
    if (!csv) return { columns, rows };
    context.print([csvHeading(columns), ...rows.map((row) => csvRow(columns, row))].join("\n"));
    return null;
  },
  json: ({ columns, rows }) => rows.map((row) => jsonRow(columns, row)),
  text: ({ columns, rows }, { month }) =>
    table(
      columns.map(({ name }) => name.replaceAll("_", " ")),
      rows.map((row) => columns.map((column) => String(column.of(row) ?? ""))),
      `Nothing was asked in ${month}.`,
    ),
});

export const usageCommands = family("usage", "show how much was asked", [exportCommand]);
