/**
 * Declares the mapping file, which says how the columns of a CSV file become records. Also declares the fields that a
 * mapping may fill. The schema in examples/mappings is generated from this file.
 */
import { canonicalSchemas } from "#records/canonical.ts";
import { membersOf, valuesOf } from "#records/declarations.ts";
import { oneOf, datePattern } from "#records/fields.ts";
import { recordKinds, type RecordKind } from "#records/kinds.ts";
import { type MemberSchema, type Static, type TSchema, Type } from "#records/schema.ts";
import { dateFormats } from "./dates.ts";
import { encodings } from "./encoding.ts";

const optional = <S extends TSchema>(schema: S) => Type.Optional(schema);
const columnName = Type.String({ minLength: 1, description: "Name of a column in the header." });
const words = (description: string) => Type.Array(Type.String(), { description });
const dates = Type.Array(oneOf("Format in which dates are written.", dateFormats), {
  minItems: 1,
  description: "Formats of the dates; the first that fits a cell is used. ISO 8601 by default.",
});

/** Decimal marks. The one that a column does not use may separate its thousands. */
export const decimalMarks = [".", ","] as const;
export type DecimalMark = (typeof decimalMarks)[number];
const decimal = oneOf(
  "Decimal mark of numbers. By default it is a point, and a number such as 1,234 or 1.234 is refused as ambiguous.",
  decimalMarks,
);

/** Returns the schema of a value that is copied into the record unchanged. */
const value = (description: string) =>
  Type.Unsafe<string | number>({ type: ["string", "number"], description });
const valueOrList = (description: string) =>
  Type.Unsafe<string | number | string[] | null>({
    type: ["string", "number", "array", "null"],
    items: { type: "string" },
    description,
  });

/** Schema of a field's source. A mapping may give just a column's name instead of `{ "column": … }`. */
export const SourceOfField = Type.Object(
  {
    column: optional(columnName),
    columns: optional(
      Type.Array(columnName, {
        minItems: 1,
        description:
          "Names of columns. A list field takes the values of all of them, any other field the first value that is not missing.",
      }),
    ),
    template: optional(
      Type.String({
        minLength: 1,
        description:
          "Text with names of columns in braces: `{First Name} {Last Name}`. The value is missing if a column is missing, unless that column is marked as optional: `{Middle Name?}`.",
      }),
    ),
    constant: optional(valueOrList("Value for every row.")),
    missing: optional(words("More texts of cells that count as missing, for this field alone.")),
    values: optional(
      Type.Unsafe<Record<string, Static<ReturnType<typeof valueOrList>>>>({
        type: "object",
        patternProperties: { "^.*$": valueOrList("Value for this text; null for none.") },
        description: "Values by the text of the cell. Case and surrounding spaces are ignored.",
      }),
    ),
    otherwise: optional(
      oneOf(
        "What to do with a cell that is not in `values` or cannot be read: `reject` the row (default), `keep` the cell as it stands, or count it as `missing`.",
        ["reject", "keep", "missing"],
      ),
    ),
    otherwise_value: optional(value("Value for a cell that is not in `values` or cannot be read.")),
    present: optional(value("Value for every cell that is not missing, whatever it contains.")),
    separator: optional(
      Type.String({ minLength: 1, description: "Text that separates several values in a cell." }),
    ),
    dates: optional(dates),
    decimal: optional(decimal),
    multiply_by: optional(
      Type.Number({
        exclusiveMinimum: 0,
        description: "Factor for the numbers, such as 1000 where they are in thousands.",
      }),
    ),
    case: optional(
      oneOf("Turns text in capitals into `Title Case`; for places, not for firms.", ["title"]),
    ),
    fold: optional(
      Type.Boolean({ description: "True to remove case, accents and punctuation, for ids." }),
    ),
  },
  { additionalProperties: false, description: "Where a value comes from." },
);
export type SourceOfField = Static<typeof SourceOfField>;

/** Beginning of each text that the operator has to replace in a drafted mapping. The rest of the text says how. */
export const chooseMark = "CHOOSE: ";

/** A source as written in the file: a column's name, or an object. */
export type Written = string | SourceOfField;

export const Condition = Type.Object(
  { column: columnName, is: optional(words("Texts of cells that meet the condition.")) },
  { additionalProperties: false },
);

export type Condition = Static<typeof Condition>;

/** Schema of a block, which makes at most one record from a row. read-mapping.ts checks what its members contain. */
export const RecordBlock = Type.Object(
  {
    record: oneOf("Kind of record.", recordKinds),
    when: optional(Type.Unsafe<string | Condition>({ type: ["string", "object"] })),
    deleted: optional(Type.Unsafe<string | Condition>({ type: ["string", "object"] })),
    id: Type.Unsafe<Written>({ type: ["string", "object"] }),
    fields: Type.Unsafe<Record<string, WrittenField>>({ type: "object" }),
  },
  { additionalProperties: false },
);
type WrittenField = Written | Written[] | Record<string, Written | Written[]>;
export type RecordBlock = Static<typeof RecordBlock>;

export const NamedGps = Type.Object(
  {
    names: Type.Unsafe<Written | Written[]>({ type: ["string", "object", "array"] }),
    split: optional(oneOf("`firms` finds the firms in cells of award lists.", ["firms"])),
    known: optional(Type.String({ description: "Source to look the names up in." })),
    external_ids: optional(Type.Unsafe<Record<string, Written | Written[]>>({ type: "object" })),
    confidence: optional(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description: "Confidence that a name is that of a GP, from 0 to 1; 0.5 by default.",
      }),
    ),
    constants: optional(
      Type.Unsafe<Record<string, unknown>>({
        type: "object",
        description: "Members of each GP that is made from a name, written as in a record.",
      }),
    ),
  },
  { additionalProperties: false, description: "GPs that the rows name without describing them." },
);
export type NamedGps = Static<typeof NamedGps>;

export const Mapping = Type.Object(
  {
    $schema: optional(Type.String({ description: "Path of this schema, for editors." })),
    description: optional(Type.String({ description: "What the mapping is for." })),
    encoding: optional(oneOf("Encoding of the file; utf-8 by default.", encodings)),
    delimiter: optional(
      Type.String({
        pattern: "^[\\t -!#-/:-@\\[-`{-~]$",
        description: "Character between cells; a comma by default.",
      }),
    ),
    quotes: optional(
      Type.Boolean({
        description:
          'True if `"` may enclose cells; true by default, but false with tabs between cells.',
      }),
    ),
    missing: optional(
      words(
        "Texts of cells that count as missing in every column, such as `N/A` or `-`. Blank cells always do.",
      ),
    ),
    dates: optional(dates),
    decimal: optional(decimal),
    records: Type.Array(Type.Unsafe<RecordBlock>({ type: "object" }), { minItems: 1 }),
    named_gps: optional(Type.Unsafe<NamedGps>({ type: "object" })),
  },
  { additionalProperties: false },
);
export type Mapping = Static<typeof Mapping>;

/** Kinds of number: any, whole, or an amount of money, which is rounded to whole dollars. */
export const numberKinds = ["decimal", "whole", "money"] as const;
export type NumberKind = (typeof numberKinds)[number];

export type FieldKind = "text" | "paragraphs" | "choice" | "date" | "link" | NumberKind;

export interface Field {
  /** Path as in mappings and reports, such as `status` or `external_ids.cik`. */
  path: string;
  kind: FieldKind;
  list: boolean;
  description: string;
  /** Words that a choice allows; empty for other kinds. */
  choices: readonly string[];
}

/** Field for a record's id in its source. */
export const idField: Field = {
  path: "id",
  kind: "text",
  list: false,
  description: "",
  choices: [],
};

/** Field for the names of GPs that rows mention but do not describe. */
export const namesField: Field = { ...idField, path: "gps", list: true };

/** Maximum length of text on one line, in characters. A field that allows more may have paragraphs. */
const lineLengthMax = 2000;

/** Members that `fields` cannot fill: those that the block or the import command sets, and `funds` with its total. */
const notMapped = new Set(["record", "id", "provenance.source", "funds", "funds_total"]);

/** Members that are written as an object of fields. */
export const grouped: readonly string[] = ["external_ids", "provenance"];

/** Returns every field that a mapping may fill in records of a kind, by path. */
export function fieldsOf(kind: RecordKind): Map<string, Field> {
  const fields = membersOf(canonicalSchemas[kind]).flatMap(([name, schema]) =>
    grouped.includes(name)
      ? membersOf(schema).map(([member, one]) => fieldOf(`${name}.${member}`, one))
      : [fieldOf(name, schema)],
  );
  return new Map(
    fields.filter(({ path }) => !notMapped.has(path)).map((field) => [field.path, field]),
  );
}

/** Returns the members that a mapping must fill in records of a kind, besides the id. */
export function neededIn(kind: RecordKind): string[] {
  const { required = [] } = canonicalSchemas[kind] as MemberSchema;
  return required.filter((name) => name !== "record" && name !== "id");
}

/** Returns a block's fields with their paths. Lists the fields of a group one by one. */
export function writtenFields(fields: RecordBlock["fields"]): [string, Written | Written[]][] {
  return Object.entries(fields).flatMap(([name, written]) =>
    grouped.includes(name)
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
    choices: valuesOf(one) ?? [],
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
