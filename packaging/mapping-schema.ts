/** The JSON Schema of mapping files, with the fields of each kind of record, for editors and other tools. */
import {
  type Field,
  fieldsOf,
  Condition,
  Mapping,
  NamedGps,
  RecordBlock,
  SourceOfField,
} from "#importers/mapping.ts";
import { canonicalSchemas } from "#records/canonical.ts";
import { type RecordKind, recordKinds } from "#records/kinds.ts";

const condition = { anyOf: [{ type: "string", minLength: 1 }, Condition] };
const source = { anyOf: [{ type: "string", minLength: 1 }, { $ref: "#/$defs/source" }] };
const sources = { anyOf: [...source.anyOf, { type: "array", items: source }] };

/** Published as examples/mappings/mapping.schema.json; a test compares the two, and says how to write it anew. */
export function mappingSchema(): unknown {
  return JSON.parse(
    JSON.stringify({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      title: "How the columns of a CSV file become records",
      ...Mapping,
      properties: {
        ...Mapping.properties,
        records: {
          type: "array",
          minItems: 1,
          description: "Blocks, each of which makes at most one record from a row.",
          items: { anyOf: recordKinds.map((kind) => ({ $ref: `#/$defs/${kind}` })) },
        },
        named_gps: {
          ...NamedGps,
          properties: {
            ...NamedGps.properties,
            names: { description: "Columns with names of GPs.", ...sources },
            external_ids: {
              description: "External ids of the GP, for rows that name only one.",
              ...(fieldSchemas("gp")["external_ids"] as object),
            },
          },
        },
      },
      $defs: {
        source: SourceOfField,
        ...Object.fromEntries(recordKinds.map((kind) => [kind, blockSchema(kind)])),
      },
    }),
  );
}

function blockSchema(kind: RecordKind): object {
  const required = (canonicalSchemas[kind] as { required?: string[] }).required ?? [];
  return {
    ...RecordBlock,
    properties: {
      record: { const: kind },
      when: {
        description:
          "Makes the record only from rows whose cell in this column is not missing, or is listed in `is`.",
        ...condition,
      },
      deleted: {
        description:
          "For `--merge`: removes the record if its row's cell in this column is not missing, or is listed in `is`.",
        ...condition,
      },
      id: { description: "The source's own id, unique for its kind.", ...source },
      fields: {
        ...objectOf(fieldSchemas(kind)),
        required: required.filter((name) => name !== "record" && name !== "id"),
      },
    },
  };
}

function fieldSchemas(kind: RecordKind): Record<string, object> {
  const schemas: Record<string, object> = {};
  const groups = new Map<string, Record<string, object>>();
  for (const [path, field] of fieldsOf(kind)) {
    const [name = "", member] = path.split(".");
    if (member === undefined) schemas[name] = fieldSchema(field);
    else groups.set(name, { ...groups.get(name), [member]: fieldSchema(field) });
  }
  for (const [name, members] of groups) schemas[name] = objectOf(members);
  return schemas;
}

function fieldSchema({ description, list }: Field): object {
  return { ...(description !== "" && { description }), ...(list ? sources : source) };
}

function objectOf(properties: Record<string, object>): object {
  return { type: "object", properties, additionalProperties: false };
}
