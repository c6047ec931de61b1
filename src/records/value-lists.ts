/** Which members of records take their values from a closed list, read from the schemas. */
import type { RecordKind } from "./kinds.ts";
import { Gp } from "./gp.ts";
import { Principal } from "./principal.ts";
import { Project } from "./project.ts";
import type { TSchema } from "./schema.ts";
import { Signal } from "./signal.ts";
import { externalIdKeys, meaningsOf } from "./vocabulary.ts";

/** The part of JSON Schema that records use. */
export interface MemberSchema {
  type?: string | readonly string[];
  description?: string;
  enum?: readonly (string | null)[];
  pattern?: string;
  format?: string;
  items?: MemberSchema;
  properties?: Readonly<Record<string, MemberSchema>>;
}

/** Members of an object in their order. */
export const membersOf = (schema: TSchema | MemberSchema): [string, MemberSchema][] =>
  Object.entries((schema as MemberSchema).properties ?? {});

/** The closed list of its values, or undefined. */
export const valuesOf = (schema: MemberSchema): string[] | undefined =>
  schema.enum?.filter((value) => value !== null);

export interface ValueList {
  /** Such as `signal.type` and `provenance.basis`. */
  members: readonly string[];
  /** In the order of the reference, each with what it means in one sentence. */
  values: readonly { value: string; meaning: string }[];
}

const schemas: Readonly<Record<RecordKind, TSchema>> = {
  gp: Gp,
  principal: Principal,
  signal: Signal,
  project: Project,
};

/** Each list once, however many members use it, in the order in which records do. */
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
  for (const [kind, schema] of Object.entries(schemas))
    for (const [name, member] of membersOf(schema)) add(kind, name, member);
  // The one list of names instead of values.
  const keys = { members: ["external_ids"], values: externalIdKeys };
  return [...lists.values(), keys].map(({ members, values }) => {
    const meanings = meaningsOf(values);
    return { members, values: values.map((value) => ({ value, meaning: meanings[value]! })) };
  });
}

export const valueLists: readonly ValueList[] = collect();
