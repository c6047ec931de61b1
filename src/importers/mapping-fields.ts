/** The members of a record as fields of a mapping: what kind of text each takes, and whether it is a list. */
import { canonicalSchemas } from "#records/canonical.ts";
import type { RecordKind } from "#records/kinds.ts";
import { ExternalIds, Provenance } from "#records/common.ts";
import { datePattern } from "#records/fields.ts";
import type { RecordBlock, Written } from "./mapping.ts";

export type FieldKind =
  | "text"
  | "paragraphs"
  | "choice"
  | "date"
  | "decimal"
  | "whole"
  | "money"
  | "link";

export interface Field {
  /** As in a mapping and in the report: `status`, `external_ids.cik`. */
  path: string;
  kind: FieldKind;
  list: boolean;
  description: string;
  /** The words a choice allows. */
  choices: readonly string[];
}

/** The source's own id, of the record itself. */
export const idField: Field = {
  path: "id",
  kind: "text",
  list: false,
  description: "",
  choices: [],
};

/** The names of GPs that have no record of their own in the source. */
export const namesField: Field = { ...idField, path: "gps", list: true };

/** The part of JSON Schema by which the kinds are told apart. */
interface MemberSchema {
  type?: string | string[];
  description?: string;
  enum?: (string | null)[];
  pattern?: string;
  maxLength?: number;
  items?: MemberSchema;
  properties?: Record<string, MemberSchema>;
}

/** A text that may be longer than this may have paragraphs. */
const lineLengthMax = 2000;

/** Set by the mapping itself or by the command, not by the source of a field. */
const notMapped = new Set(["record", "id", "provenance.source"]);

/** Members that are written as an object of fields. */
export const grouped: Readonly<Record<string, unknown>> = {
  external_ids: ExternalIds,
  provenance: Provenance,
};

/** Every field a mapping may fill in a record of this kind, by path. */
export function fieldsOf(kind: RecordKind): Map<string, Field> {
  const { properties = {} } = canonicalSchemas[kind] as unknown as MemberSchema;
  const fields = Object.entries(properties).flatMap(([name, schema]) => {
    const group = (grouped[name] as MemberSchema | undefined)?.properties;
    if (group === undefined) return [fieldOf(name, schema)];
    return Object.entries(group).map(([member, one]) => fieldOf(`${name}.${member}`, one));
  });
  return new Map(
    fields.filter(({ path }) => !notMapped.has(path)).map((field) => [field.path, field]),
  );
}

/** The fields of a block by path, those of a group one by one. */
export function writtenFields(fields: RecordBlock["fields"]): [string, Written | Written[]][] {
  return Object.entries(fields).flatMap(([name, written]) =>
    Object.hasOwn(grouped, name)
      ? Object.entries(written as Record<string, Written | Written[]>).map(
          ([member, one]): [string, Written | Written[]] => [`${name}.${member}`, one],
        )
      : [[name, written as Written | Written[]]],
  );
}

function fieldOf(path: string, schema: MemberSchema): Field {
  const list = [schema.type].flat().includes("array");
  const one = list ? (schema.items ?? {}) : schema;
  return {
    path,
    kind: kindOf(path, one),
    list,
    description: schema.description ?? "",
    choices: (one.enum ?? []).filter((word) => word !== null),
  };
}

function kindOf(
  path: string,
  { type, enum: words, pattern, maxLength = 0 }: MemberSchema,
): FieldKind {
  const types = [type].flat();
  if (words !== undefined) return "choice";
  if (types.includes("integer")) return path.endsWith("_usd") ? "money" : "whole";
  if (types.includes("number")) return "decimal";
  if (pattern?.startsWith("^https?") === true) return "link";
  if (pattern?.startsWith(datePattern) === true) return "date";
  return maxLength > lineLengthMax ? "paragraphs" : "text";
}
