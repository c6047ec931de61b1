/** One invented record of each kind, an explanation, a vocabulary, and the `meta` of an answer. */
import { apiVersion } from "#operations/versions.ts";
import type { Vocabulary } from "#operations/vocabulary.ts";
import { declarations, membersOf, type RecordOf, valueLists } from "#records/declarations.ts";
import type { Explanation } from "#records/explanation.ts";
import { type EachKind, eachOf, kinds, type RecordKind, recordKinds } from "#records/kinds.ts";
import type { MemberSchema } from "#records/schema.ts";
import examples from "./example-records.json" with { type: "json" };

const { explanation, vocabulary, every, ...written } = examples;
const ofKind: Partial<EachKind<object>> = written;

const emptyValues: Readonly<Record<string, unknown>> = { null: null, array: [], object: {} };

/** Returns an example for a member: null or empty if possible, else its first listed value, minimum or description. */
function usualValue({ type, enum: values, minimum, description }: MemberSchema): unknown {
  const name = [type].flat().at(-1)!;
  return name in emptyValues ? emptyValues[name] : (values?.[0] ?? minimum ?? description);
}

/** Returns a kind's example. A member without a written example gets its usual value. */
function exampleOf(kind: RecordKind): object {
  const id = `${kinds[kind].prefix}_0000000000000000`;
  const given: Readonly<Record<string, unknown>> = { id, ...every, ...ofKind[kind] };
  const members = membersOf(declarations[kind].schema);
  return Object.fromEntries(
    members.map(([name, schema]) => [name, given[name] ?? usualValue(schema)]),
  );
}

export const exampleExplanation = explanation as Explanation;

export const exampleRecords = eachOf(recordKinds, exampleOf) as { [K in RecordKind]: RecordOf<K> };

export const exampleMeta = {
  api_version: apiVersion,
  dataset_version: "20261120T030000Z-9f3c2a7e",
  dataset_updated_at: "2026-11-20T03:00:00Z",
  hints: [],
};

export const exampleVocabulary: Vocabulary = {
  data: {
    ...vocabulary,
    enums: valueLists.filter(({ members }) => members[0] === "project.market_basis"),
  },
  meta: exampleMeta,
};
