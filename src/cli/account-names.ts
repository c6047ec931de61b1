/** The accounts that rows of usage belong to: their ids and names, as the first two columns. */
import { listAccounts } from "#accounts/accounts.ts";
import type { Column } from "#csv.ts";
import type { CliContext } from "./command.ts";
import { withControl } from "./data-dir.ts";

/** The account that a number stands for. */
interface AccountNames {
  /** Its id. */
  account: string;
  account_name: string;
}

/** Returns the columns, for rows with the number of an account. A number may be unknown to a restored control store. */
export async function readAccountColumns<Row>(
  context: CliContext,
  numberOf: (row: Row) => number,
): Promise<readonly Column<Row>[]> {
  const accounts = await withControl(context, (control) =>
    listAccounts(control, { withClosed: true }),
  );
  const names = new Map<number, AccountNames>(
    accounts.map(({ number, id, name }) => [number, { account: id, account_name: name }]),
  );
  const namesOf = (row: Row): AccountNames =>
    names.get(numberOf(row)) ?? { account: `unknown (${numberOf(row)})`, account_name: "" };
  return [
    { name: "account", of: (row) => namesOf(row).account },
    { name: "account_name", of: (row) => namesOf(row).account_name },
  ];
}
