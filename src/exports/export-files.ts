/** Writes the records of a dataset into files: one for each kind, or a workbook with all of them. */
import { join } from "node:path";
import { csvHeading, csvRow, lineEnd } from "#csv.ts";
import type { RecordKind } from "#records/kinds.ts";
import { recordColumns } from "#records/columns.ts";
import { openOutputFile, type OutputFile } from "#store/whole-file.ts";
import type { RecordSource } from "./record-source.ts";
import type { ExportedFile, FileFormat } from "./run-export.ts";

/** Writes one kind to a file named after it, such as `gp.parquet`. Replaces a file of that name once this one is complete. */
export const exportKind = (
  source: RecordSource,
  kind: RecordKind,
  format: FileFormat,
  folder: string,
): Promise<ExportedFile> =>
  writeFile(join(folder, `${kind}.${format}`), (output) => writers[format](source, kind, output));

/** Writes all kinds to one file, `records.xlsx`. @throws DatasetFault if they are too many for a workbook. */
export const exportWorkbook = (
  source: RecordSource,
  kinds: readonly RecordKind[],
  licence: string | null,
  folder: string,
): Promise<ExportedFile> =>
  writeFile(join(folder, "records.xlsx"), async (output) => {
    const { writeWorkbook } = await import("./workbook.ts");
    return writeWorkbook(source, kinds, licence, output);
  });

async function writeFile(
  file: string,
  write: (output: OutputFile) => number | Promise<number>,
): Promise<ExportedFile> {
  const output = openOutputFile(file);
  try {
    const records = await write(output);
    return { file, records, ...output.finish() };
  } catch (error) {
    output.abandon();
    throw error;
  }
}

type Write = (
  source: RecordSource,
  kind: RecordKind,
  output: OutputFile,
) => number | Promise<number>;

const writers: Readonly<Record<FileFormat, Write>> = {
  ndjson(source, kind, output) {
    for (const lines of source.lines(kind)) output.write(lines);
    return source.generation.records[kind];
  },
  csv(source, kind, output) {
    const columns = recordColumns[kind];
    let text = csvHeading(columns) + lineEnd;
    let records = 0;
    for (const record of source.records(kind)) {
      text += csvRow(columns, record) + lineEnd;
      records++;
      if (text.length < pieceLength) continue;
      output.write(text);
      text = "";
    }
    output.write(text);
    return records;
  },
  async parquet(source, kind, output) {
    const { writeParquet } = await import("./parquet.ts");
    return writeParquet(source, kind, output);
  },
};

/** Characters written at a time. */
const pieceLength = 64 * 1024;
