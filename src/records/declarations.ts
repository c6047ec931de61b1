/** The declaration of every kind, from which schemas, columns, conditions and the reference follow. */
import type { Filterable } from "./filterable.ts";
import { gpDeclaration } from "./gp.ts";
import { type EachKind, type RecordKind, recordKinds } from "./kinds.ts";
import { principalDeclaration } from "./principal.ts";
import { projectDeclaration } from "./project.ts";
import type { Static, TObject, TSchema } from "./schema.ts";
import { signalDeclaration } from "./signal.ts";
import { externalIdKeys, meaningsOf } from "./vocabulary.ts";

export interface Declaration {
  /** Sentence for agents. */
  meaning: string;
  /** Members as stored, without what comes from other records. */
  members: Readonly<Record<string, TSchema>>;
  /** Schema of a record as served. */
  schema: TObject;
  filterable: Filterable<never>;
  /** Values of absent members that are neither null nor a list. A source must give every other such member. */
  absent: Readonly<Record<string, string>>;
  /** Members in brief, in the order of the record. */
  brief: readonly string[];
}

export const declarations = {
  gp: gpDeclaration,
  principal: principalDeclaration,
  signal: signalDeclaration,
  project: projectDeclaration,
} satisfies EachKind<Declaration>;

/** A record as served. */
export type RecordOf<K extends RecordKind> = Static<(typeof declarations)[K]["schema"]>;

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
