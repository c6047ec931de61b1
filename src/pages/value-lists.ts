/** The closed lists of values, each listed once however many members use it. */
import { operations } from "#operations/index.ts";
import { html, type Html } from "./html.ts";
import { membersOf, valuesOf, type MemberSchema } from "./member-type.ts";
import { codes } from "./prose.ts";
import { table } from "./table.ts";

interface ValueList {
  /** Fragment of its URL in the docs. */
  anchor: string;
  /** Such as `signal.type` and `provenance.basis`. */
  usedBy: string[];
  values: readonly string[];
}

const keyOf = (values: readonly string[]) => values.join();

/** Keyed by their values, in the order in which records use them. */
function collect(): Map<string, ValueList> {
  const lists = new Map<string, ValueList>();
  const add = (owner: string, name: string, schema: MemberSchema) => {
    const { items } = schema;
    for (const [inner, member] of membersOf(schema)) add(name, inner, member);
    const values = valuesOf(schema) ?? (items && valuesOf(items));
    if (values === undefined) return;
    const user = `${owner}.${name}`;
    const known = lists.get(keyOf(values)) ?? { anchor: `values-${user}`, usedBy: [], values };
    if (!known.usedBy.includes(user)) known.usedBy.push(user);
    lists.set(keyOf(values), known);
  };
  for (const { kind, record } of operations)
    for (const [name, schema] of membersOf(record)) add(kind, name, schema);
  return lists;
}

const valueLists: ReadonlyMap<string, ValueList> = collect();

/** The list a member takes its values from. */
export const listWith = (values: readonly string[]): ValueList => valueLists.get(keyOf(values))!;

export const valueListTable = (): Html =>
  table({
    label: "Closed lists of values",
    columns: ["Members", { label: "Values", isPlain: true }],
    rows: [...valueLists.values()].map(({ anchor, usedBy, values }) => [
      html`<span id="${anchor}">${codes(usedBy)}</span>`,
      html`<span class="mono">${values.join(", ")}</span>`,
    ]),
  });
