/** Prints rows as CSV, JSON lines or one JSON document for programs, or as a table for people. */
import { listAccounts } from "#accounts/accounts.ts";
import { type Column, csvHeading, csvRow, jsonRow } from "#csv.ts";
import { type CliContext, flag, jsonFlag } from "./command.ts";
import { withControl } from "./data-dir.ts";

export const rowOptions = {
  csv: flag("--csv", "print CSV, its column names first", "ndjson", "json"),
  ndjson: flag("--ndjson", "print a JSON object a line", "json"),
  json: jsonFlag,
};

type RowOptions = Readonly<Record<keyof typeof rowOptions, boolean>>;

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
  if (options.csv) print(csvHeading(columns));
  const lineOf = lineWriter(options, columns);
  const all: Row[] = [];
  for await (const rows of pages)
    if (lineOf === undefined) all.push(...rows);
    else if (rows.length > 0) print(rows.map(lineOf).join("\n"));
  if (lineOf !== undefined) return;
  print(options.json ? JSON.stringify(all.map((row) => jsonRow(columns, row))) : text(all));
}

function lineWriter<Row>({ csv, ndjson }: RowOptions, columns: readonly Column<Row>[]) {
  if (csv) return (row: Row) => csvRow(columns, row);
  return ndjson ? (row: Row) => JSON.stringify(jsonRow(columns, row)) : undefined;
}

/** The account that a number stands for, as the first two columns of usage rows. */
interface AccountNames {
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
