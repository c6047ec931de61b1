/** Who an account's number stands for, as the first two columns of rows of usage. */
import { listAccounts } from "#accounts/accounts.ts";
import type { Column } from "#usage/columns.ts";
import { withControl } from "./data-dir.ts";
import type { Surroundings } from "./surroundings.ts";

export interface AccountNames {
  /** Its id. */
  account: string;
  account_name: string;
}

/** Usage of an account that a restored control store does not know is still shown. */
const unknown = (number: number): AccountNames => ({
  account: `unknown (${number})`,
  account_name: "",
});

export async function readAccountNames(
  surroundings: Surroundings,
): Promise<(number: number) => AccountNames> {
  const accounts = await withControl(surroundings, (control) =>
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
