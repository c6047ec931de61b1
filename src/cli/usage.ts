/** `gp-records usage`: what was asked in a month, for bills and reports. */
import { type Command, InvalidArgumentError } from "commander";
import type { Column } from "#csv.ts";
import { totalsColumns } from "#usage/columns.ts";
import {
  type ExportedUsage,
  exportMonth,
  type ExportPart,
  exportParts,
} from "#usage/export-month.ts";
import { isMonth } from "#usage/time.ts";
import type { CliContext } from "./context.ts";
import { withUsage } from "./data-dir.ts";
import { table } from "./output.ts";
import {
  accountColumns,
  type AccountNames,
  printRows,
  readAccountNames,
  type RowOptions,
  withRowOptions,
} from "./row-output.ts";

interface ExportOptions extends RowOptions {
  month: string;
  by: readonly ExportPart[];
}

export function addUsageCommands(program: Command, context: CliContext): void {
  const usage = program.command("usage").description("show how much was asked");
  const exportCommand = usage
    .command("export")
    .description("add up the requests of a month of UTC")
    .requiredOption("--month <month>", "such as 2026-11", parseMonth)
    .requiredOption("--by <parts>", `what to tell apart: ${exportParts.join(",")}`, parseParts);
  withRowOptions(exportCommand).action((options: ExportOptions) => show(context, options));
}

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

async function show(context: CliContext, options: ExportOptions): Promise<void> {
  const { month, by } = options;
  const namesOf = await readAccountNames(context);
  const columns = columnsBy(by, ({ account }) => namesOf(account!));
  const rows = await withUsage(context, (usage) => exportMonth(usage, { month, by }));
  const text = () =>
    rows.length === 0 ? `Nothing was asked in ${month}.` : usageTable(columns, rows);
  await printRows(context, options, { columns, text }, [rows]);
}

const columnsBy = (
  by: readonly ExportPart[],
  namesOf: (row: ExportedUsage) => AccountNames,
): readonly Column<ExportedUsage>[] => [
  ...by.flatMap((part) =>
    part === "account"
      ? accountColumns(namesOf)
      : [{ name: part, of: (row: ExportedUsage) => row[part] }],
  ),
  ...totalsColumns.map(({ name, of }) => ({ name, of: ({ totals }: ExportedUsage) => of(totals) })),
];

const usageTable = (columns: readonly Column<ExportedUsage>[], rows: readonly ExportedUsage[]) =>
  table(
    columns.map(({ name }) => name.replaceAll("_", " ")),
    rows.map((row) => columns.map((column) => String(column.of(row) ?? ""))),
  );
