/** Declarations of all kinds of record. Schemas, columns, conditions and the reference follow from them. */
import type { Filterable } from "./filterable.ts";
import { gpDeclaration } from "./gp.ts";
import { type EachKind, type NamedKind, type RecordKind, recordKinds } from "./kinds.ts";
import { principalDeclaration } from "./principal.ts";
import { projectDeclaration } from "./project.ts";
import type { MemberSchema, Static, TObject, TSchema } from "./schema.ts";
import { signalDeclaration } from "./signal.ts";
import { externalIdKeys, meaningsOf } from "./vocabulary.ts";

export interface Declaration {
  /** Sentence that explains the kind to agents. */
  meaning: string;
  /** Members as stored, without those that come from other records. */
  members: Readonly<Record<string, TSchema>>;
  /** Schema of a record as served. */
  schema: TObject;
  filterable: Filterable<never>;
  /** Defaults of scalar members that are never null. A source must give all other such scalars, except `updated_at`. */
  absent: Readonly<Record<string, string | number>>;
  /** Members of a record in brief, in the record's order. */
  brief: readonly string[];
}

export const declarations = {
  gp: gpDeclaration,
  principal: principalDeclaration,
  signal: signalDeclaration,
  project: projectDeclaration,
} satisfies EachKind<Declaration> & Record<NamedKind, { members: { name: TSchema } }>;

/** A record as served. */
export type RecordOf<K extends RecordKind> = Static<(typeof declarations)[K]["schema"]>;

/** Returns an object schema's members, in their order. */
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

/** Collects the closed lists in the order in which records use them, each once. */
function collect(): ValueList[] {
  const lists = new Map<string, { members: string[]; values: readonly string[] }>();
  const add = (owner: string, name: string, schema: MemberSchema) => {
    const { items } = schema;
    for (const [inner, member] of membersOf(items ?? schema)) add(name, inner, member);
    const values = valuesOf(schema) ?? (items && valuesOf(items));
    if (values === undefined) return;
    const member = `${owner}.${name}`;
    const known = lists.get(values.join()) ?? { members: [], values };
    if (!known.members.includes(member)) known.members.push(member);
    lists.set(values.join(), known);
  };
  for (const kind of recordKinds)
    for (const [name, member] of Object.entries(declarations[kind].members))
      add(kind, name, member);
  // The values of this list are names of members.
  const keys = { members: ["external_ids"], values: externalIdKeys };
  return [...lists.values(), keys].map(({ members, values }) => {
    const meanings = meaningsOf(values)!;
    return { members, values: values.map((value) => ({ value, meaning: meanings[value]! })) };
  });
}

export const valueLists: readonly ValueList[] = collect();
