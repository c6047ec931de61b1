/** Members of records with a closed list of values, read from the schemas. */
import { declarations } from "./declarations.ts";
import { recordKinds } from "./kinds.ts";
import type { TSchema } from "./schema.ts";
import { externalIdKeys, meaningsOf } from "./vocabulary.ts";

/** Part of JSON Schema that records use. */
export interface MemberSchema {
  type?: string | readonly string[];
  description?: string;
  enum?: readonly (string | null)[];
  pattern?: string;
  format?: string;
  items?: MemberSchema;
  properties?: Readonly<Record<string, MemberSchema>>;
}

/** Returns the members of an object, in their order. */
export const membersOf = (schema: TSchema | MemberSchema): [string, MemberSchema][] =>
  Object.entries((schema as MemberSchema).properties ?? {});

/** Returns the closed list of a schema's values, or undefined if it has none. */
export const valuesOf = (schema: MemberSchema): string[] | undefined =>
  schema.enum?.filter((value) => value !== null);

export interface ValueList {
  /** Members that use the list, such as `signal.type` and `provenance.basis`. */
  members: readonly string[];
  /** Values in the order of the reference, each with its meaning in one sentence. */
  values: readonly { value: string; meaning: string }[];
}

/** Collects each list once, however many members use it, in the order of the records. */
function collect(): ValueList[] {
  const lists = new Map<string, { members: string[]; values: readonly string[] }>();
  const add = (owner: string, name: string, schema: MemberSchema) => {
    const { items } = schema;
    for (const [inner, member] of membersOf(schema)) add(name, inner, member);
    const values = valuesOf(schema) ?? (items && valuesOf(items));
    if (values === undefined) return;
    const member = `${owner}.${name}`;
    const known = lists.get(values.join()) ?? { members: [], values };
    if (!known.members.includes(member)) known.members.push(member);
    lists.set(values.join(), known);
  };
  for (const kind of recordKinds)
    for (const [name, member] of membersOf(declarations[kind].schema)) add(kind, name, member);
  // This one lists names instead of values.
  const keys = { members: ["external_ids"], values: externalIdKeys };
  return [...lists.values(), keys].map(({ members, values }) => {
    const meanings = meaningsOf(values);
    return { members, values: values.map((value) => ({ value, meaning: meanings[value]! })) };
  });
}

export const valueLists: readonly ValueList[] = collect();
