/** The members of a record: name, type, whether it may be null, meaning. */
import type { Operation } from "#operations/operation.ts";
import { html, type Html, type Part } from "./html.ts";
import { isNullable, membersOf, typeWords, valuesOf, type MemberSchema } from "./member-type.ts";
import { codes, prose } from "./prose.ts";
import { table } from "./table.ts";
import { listWith } from "./value-lists.ts";

export const memberTable = (label: string, record: Operation["record"]): Html =>
  table({
    label,
    columns: ["Member", { label: "Type", isPlain: true }, { label: "Meaning", isPlain: true }],
    rows: membersOf(record).map(([name, schema]) => [
      html`<code>${name}</code>`,
      html`${typeCell(schema)}${isNullable(schema) && " or null"}`,
      html`${prose(schema.description ?? "Open vocabulary.")}${innerMembers(schema)}`,
    ]),
  });

/** Closed lists are long and shared, so the cell leads to theirs. */
function typeCell(schema: MemberSchema): Part {
  const values = valuesOf(schema) ?? valuesOf(schema.items ?? {});
  if (values === undefined) return typeWords(schema);
  const link = html`<a href="#${listWith(values).anchor}">${values.length} values</a>`;
  return html`${schema.items === undefined ? "one" : "list"} of ${link}`;
}

/** Objects with more members are records, described in a table of their own. */
const innerMembersMax = 10;

function innerMembers({ properties, items }: MemberSchema): Part {
  const names = Object.keys(properties ?? items?.properties ?? {});
  if (names.length === 0 || names.length > innerMembersMax) return null;
  return html` Members: ${codes(names)}.`;
}
