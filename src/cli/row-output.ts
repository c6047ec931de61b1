/** Prints rows as CSV or one JSON document for programs, or as a table for people. */
import { listAccounts } from "#accounts/accounts.ts";
import { type Column, csvHeading, csvRow, jsonRow } from "#csv.ts";
import { type CliContext, flag, jsonFlag } from "./command.ts";
import { withControl } from "./data-dir.ts";

export const rowOptions = {
  csv: flag("--csv", "print CSV, its column names first", "json"),
  json: jsonFlag,
};

type RowOptions = Readonly<Record<keyof typeof rowOptions, boolean>>;

interface RowOutput<Row> {
  columns: readonly Column<Row>[];
  /** Returns the text for people, who get all rows at once. */
  text(rows: readonly Row[]): string;
}

/** Prints rows. CSV is printed page by page, so it may be larger than memory. */
export async function printRows<Row>(
  { print }: CliContext,
  { csv, json }: RowOptions,
  { columns, text }: RowOutput<Row>,
  pages: AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>,
): Promise<void> {
  if (csv) {
    print(csvHeading(columns));
    for await (const rows of pages)
      if (rows.length > 0) print(rows.map((row) => csvRow(columns, row)).join("\n"));
    return;
  }
  const all = (await Array.fromAsync(pages)).flat();
  print(json ? JSON.stringify(all.map((row) => jsonRow(columns, row))) : text(all));
}

/** Id and name of an account: columns of rows about requests and usage. */
interface AccountNames {
  /** Account id. */
  account: string;
  account_name: string;
}

/** Returns id and name for an account that a restored control store lacks, so that its usage can be shown. */
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
