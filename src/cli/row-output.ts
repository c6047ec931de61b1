/** Prints rows as CSV, JSON lines or one JSON document for programs, or as a table for people. */
import { type Command, Option } from "commander";
import { listAccounts } from "#accounts/accounts.ts";
import { type Column, csvHeading, csvRow } from "#csv.ts";
import { jsonRow } from "#usage/columns.ts";
import type { CliContext } from "./context.ts";
import { withControl } from "./data-dir.ts";
import { jsonOption } from "./output.ts";

export interface RowOptions {
  csv?: boolean;
  ndjson?: boolean;
  json?: boolean;
}

export const withRowOptions = (command: Command): Command =>
  command
    .addOption(
      new Option("--csv", "print CSV, its column names first").conflicts(["ndjson", "json"]),
    )
    .addOption(new Option("--ndjson", "print a JSON object a line").conflicts("json"))
    .option(...jsonOption);

interface RowOutput<Row> {
  columns: readonly Column<Row>[];
  /** For people, who get all rows at once. */
  text(rows: readonly Row[]): string;
}

/** CSV and JSON lines are printed as they come, so that they may be more than fits into memory. */
export async function printRows<Row>(
  { print }: CliContext,
  options: RowOptions,
  { columns, text }: RowOutput<Row>,
  pages: AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>,
): Promise<void> {
  if (options.csv === true) print(csvHeading(columns));
  const lineOf = lineWriter(options, columns);
  const all: Row[] = [];
  for await (const rows of pages)
    if (lineOf === undefined) all.push(...rows);
    else if (rows.length > 0) print(rows.map(lineOf).join("\n"));
  if (lineOf !== undefined) return;
  print(
    options.json === true ? JSON.stringify(all.map((row) => jsonRow(columns, row))) : text(all),
  );
}

function lineWriter<Row>({ csv, ndjson }: RowOptions, columns: readonly Column<Row>[]) {
  if (csv === true) return (row: Row) => csvRow(columns, row);
  return ndjson === true ? (row: Row) => JSON.stringify(jsonRow(columns, row)) : undefined;
}

/** The account that a number stands for, as the first two columns of usage rows. */
export interface AccountNames {
  /** Its id. */
  account: string;
  account_name: string;
}

/** For usage of an account that a restored control store does not have, which is still shown. */
const unknown = (number: number): AccountNames => ({
  account: `unknown (${number})`,
  account_name: "",
});

export async function readAccountNames(
  context: CliContext,
): Promise<(number: number) => AccountNames> {
  const accounts = await withControl(context, (control) =>
    listAccounts(control, { withClosed: true }),
  );
  const names = new Map(
    accounts.map(({ number, id, name }) => [number, { account: id, account_name: name }]),
  );
  return (number) => names.get(number) ?? unknown(number);
}

export const accountColumns = <Row>(
  namesOf: (row: Row) => AccountNames,
): readonly Column<Row>[] => [
  { name: "account", of: (row) => namesOf(row).account },
  { name: "account_name", of: (row) => namesOf(row).account_name },
];
