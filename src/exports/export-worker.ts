/**
 * The thread that writes files of records: NDJSON, CSV and Parquet here, a workbook in `workbook.ts`. The thread's
 * memory is limited, and is returned to the system when the thread ends.
 */
import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import type { ParquetWriter } from "hyparquet-writer";
import { csvHeading, csvRow } from "#csv.ts";
import { lowerOwnPriority } from "#datasets/priority.ts";
import { recordColumns, type RecordMembers } from "#records/columns.ts";
import { membersOf } from "#records/declarations.ts";
import type { RecordKind } from "#records/kinds.ts";
import type { MemberSchema } from "#records/schema.ts";
import { openOutputFile, type OutputFile } from "#store/whole-file.ts";
import { inPieces, openRecordSource, ownSchemaOf } from "./record-source.ts";
import { type ExportedFile, type ExportOrder, workbookFormat } from "./run-export.ts";

type SchemaElement = ConstructorParameters<typeof ParquetWriter>[0]["schema"][number];

/** Number of records, funds and 4,096 letters of long text at which a row group ends. Larger ones take more memory. */
const groupMax = 4096;

// Requests and the machine's other work come first.
lowerOwnPriority();
const { path, generation, kinds, format, folder, licence } = workerData as ExportOrder;
const source = openRecordSource(path, generation);
// A workbook holds all chosen kinds. Other formats have a file for each kind.
const kindsOfFiles = format === workbookFormat ? [kinds] : kinds.map((kind) => [kind]);
const files: ExportedFile[] = [];
for (const ofFile of kindsOfFiles) files.push(await writeFile(ofFile));
source.close();
parentPort!.postMessage(files);

/** Writes a file. Replaces a file of the same name only when the new one is complete. */
async function writeFile(ofFile: readonly RecordKind[]): Promise<ExportedFile> {
  const name = format === workbookFormat ? "records" : ofFile[0];
  const file = join(folder, `${name}.${format}`);
  const output = openOutputFile(file);
  try {
    await write(ofFile, output);
    const records = ofFile.reduce((sum, kind) => sum + generation.records[kind], 0);
    return { file, records, ...output.finish() };
  } catch (error) {
    output.abandon();
    throw error;
  }
}

async function write(ofFile: readonly RecordKind[], output: OutputFile): Promise<void> {
  const kind = ofFile[0]!;
  switch (format) {
    case "ndjson":
      for (const lines of source.lines(kind)) output.write(lines);
      break;
    case "csv":
      for (const rows of inPieces(csvRows(kind))) output.write(rows);
      break;
    case "parquet":
      await writeParquet(kind, output);
      break;
    case workbookFormat: {
      const { writeWorkbook } = await import("./workbook.ts");
      await writeWorkbook(source, ofFile, licence, output);
    }
  }
}

function* csvRows(kind: RecordKind): Generator<string> {
  const columns = recordColumns[kind];
  yield csvHeading(columns);
  for (const record of source.records(kind)) yield csvRow(columns, record);
}

async function writeParquet(kind: RecordKind, output: OutputFile): Promise<void> {
  const { ByteWriter, ParquetWriter } = await import("hyparquet-writer");
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
    kvMetadata: [{ key: "gp-records.dataset_version", value: generation.version }],
  });
  const columns = members.map(([name, member]) => ({
    name,
    data: [] as unknown[],
    convert: conversionOf(member),
  }));
  let size = 0;
  const writeGroup = () => {
    void writer.write({ columnData: columns, rowGroupSize: groupMax });
    for (const column of columns) column.data = [];
    size = 0;
  };
  for (const record of source.ownRecords(kind)) {
    for (const { name, data, convert } of columns) data.push(convert(record[name]));
    const long = (record["description"] ?? record["summary"] ?? "") as string;
    size += 1 + long.length / 4096 + ((record["funds"] ?? []) as unknown[]).length;
    if (size >= groupMax) writeGroup();
  }
  writeGroup();
  void writer.finish();
  moveOn();
}

/** Returns an element followed by its children, as the format requires (parquet.thrift, LogicalTypes.md). */
function elementsOf(name: string, member: MemberSchema, mayBeMissing: boolean): SchemaElement[] {
  const { type, properties, required = [], items } = member;
  const mayBeNull = mayBeMissing || [type].flat().includes("null");
  const common = { name, repetition_type: mayBeNull ? "OPTIONAL" : "REQUIRED" } as const;
  if (items !== undefined)
    return [
      { ...common, converted_type: "LIST", num_children: 1 },
      { name: "list", repetition_type: "REPEATED", num_children: 1 },
      ...elementsOf("element", items, false),
    ];
  if (properties !== undefined) {
    const inner = Object.entries(properties);
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

/** Returns a function that converts a member's whole numbers and times for the writer, also in lists of objects. */
function conversionOf({ type, format, items }: MemberSchema): (value: unknown) => unknown {
  if (items?.properties !== undefined) {
    const inner = Object.entries(items.properties).map(
      ([key, one]) => [key, conversionOf(one)] as const,
    );
    return (list) =>
      (list as RecordMembers[]).map((one) =>
        Object.fromEntries(inner.map(([key, convert]) => [key, convert(one[key])])),
      );
  }
  if ([type].flat().includes("integer"))
    return (value) => (value === null ? null : BigInt(value as number));
  if (format === "date-time") return (value) => (value === null ? null : new Date(value as string));
  return (value) => value;
}
