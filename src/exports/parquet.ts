/** Writes records as Parquet. Each member has a column of its declared type; lists and objects are nested. */
import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import { shownOfEach } from "#records/columns.ts";
import { membersOf } from "#records/declarations.ts";
import type { RecordKind } from "#records/kinds.ts";
import type { MemberSchema } from "#records/schema.ts";
import type { OutputFile } from "#store/whole-file.ts";
import { ownSchemaOf, type RecordSource } from "./record-source.ts";

type SchemaElement = ConstructorParameters<typeof ParquetWriter>[0]["schema"][number];

/** Number of rows in a group. Larger groups take more memory to write; smaller ones take more time to read. */
const rowsOfGroup = 4096;

export function writeParquet(source: RecordSource, kind: RecordKind, output: OutputFile): void {
  const members = membersOf(ownSchemaOf(kind));
  const schema = [
    { name: kind, num_children: members.length },
    ...members.flatMap(([name, member]) => elementsOf(name, member, false)),
  ];
  const bytes = new ByteWriter();
  const moveOn = () => {
    output.write(bytes.getBytes());
    bytes.index = 0;
  };
  const writer = new ParquetWriter({
    writer: Object.assign(bytes, { flush: moveOn }),
    schema,
    createdBy: "gp-records",
    kvMetadata: [{ key: "gp-records.dataset_version", value: source.generation.version }],
  });
  const columns = members.map(([name, member]) => ({
    name,
    data: [] as unknown[],
    convert: conversionOf(member),
  }));
  const writeGroup = () => {
    void writer.write({ columnData: columns, rowGroupSize: rowsOfGroup });
    for (const column of columns) column.data = [];
  };
  let rows = 0;
  for (const record of source.ownRecords(kind)) {
    for (const { name, data, convert } of columns) data.push(convert(record[name]));
    if (++rows % rowsOfGroup === 0) writeGroup();
  }
  writeGroup();
  void writer.finish();
  moveOn();
}

/**
 * Returns an element followed by its children, as the format requires (parquet.thrift, LogicalTypes.md).
 * @param shown members of an object that a table shows, if not all.
 */
function elementsOf(
  name: string,
  member: MemberSchema,
  mayBeMissing: boolean,
  shown?: readonly string[],
): SchemaElement[] {
  const { type, properties, required = [], items } = member;
  const mayBeNull = mayBeMissing || [type].flat().includes("null");
  const common = { name, repetition_type: mayBeNull ? "OPTIONAL" : "REQUIRED" } as const;
  if (items !== undefined)
    return [
      { ...common, converted_type: "LIST", num_children: 1 },
      { name: "list", repetition_type: "REPEATED", num_children: 1 },
      ...elementsOf("element", items, false, shownOfEach[name]),
    ];
  if (properties !== undefined) {
    const inner = Object.entries(properties).filter(([key]) => shown?.includes(key) ?? true);
    return [
      { ...common, num_children: inner.length },
      ...inner.flatMap(([key, one]) => elementsOf(key, one, !required.includes(key))),
    ];
  }
  return [{ ...common, ...leafOf(member) }];
}

/** Returns the type of a scalar. Dates stay text, because a source may know only the year. */
function leafOf({ type, format }: MemberSchema): Partial<SchemaElement> {
  const [name] = [type].flat();
  if (name === "integer") return { type: "INT64" };
  if (name === "number") return { type: "DOUBLE" };
  if (format === "date-time")
    return {
      type: "INT64",
      converted_type: "TIMESTAMP_MILLIS",
      logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MILLIS" },
    };
  return { type: "BYTE_ARRAY", converted_type: "UTF8" };
}

/** Returns a function that converts a member's values for the writer. Only whole numbers and times are converted. */
function conversionOf({ type, format }: MemberSchema): (value: unknown) => unknown {
  if ([type].flat().includes("integer"))
    return (value) => (value === null ? null : BigInt(value as number));
  if (format === "date-time") return (value) => (value === null ? null : new Date(value as string));
  return (value) => value;
}
