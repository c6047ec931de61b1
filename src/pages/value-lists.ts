/** The closed lists of values, each listed once however many members use it. */
import { type ValueList, valueLists } from "#records/value-lists.ts";
import { html, type Html } from "./html.ts";
import { codes } from "./prose.ts";
import { table } from "./table.ts";

/** Fragment of the address of a list in the docs. @param values all of the list. */
export const anchorOf = (values: readonly string[]): string =>
  `values-${valueLists.find((list) => wordsOf(list) === values.join(", "))!.members[0]}`;

const wordsOf = ({ values }: ValueList) => values.map(({ value }) => value).join(", ");

export const valueListTable = (): Html =>
  table({
    label: "Closed lists of values",
    columns: ["Members", { label: "Values", isPlain: true }],
    rows: valueLists.map((list) => [
      html`<span id="values-${list.members[0]}">${codes(list.members)}</span>`,
      html`<span class="mono">${wordsOf(list)}</span>`,
    ]),
  });
