/** The thread that writes files of records. Its memory is limited, and is returned to the system when it ends. */
import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { csvHeading, csvRow, lineEnd } from "#csv.ts";
import { lowerOwnPriority } from "#datasets/priority.ts";
import type { RecordKind } from "#records/kinds.ts";
import { recordColumns } from "#records/columns.ts";
import { openOutputFile, type OutputFile } from "#store/whole-file.ts";
import { inPieces, openRecordSource } from "./record-source.ts";
import { type ExportedFile, type ExportOrder, workbookFormat } from "./run-export.ts";

// Requests and the machine's other work come first.
lowerOwnPriority();
const { path, generation, kinds, format, folder, licence } = workerData as ExportOrder;
const source = openRecordSource(path, generation);
// A workbook holds all kinds. Other formats have a file for each kind.
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
    case "parquet": {
      const { writeParquet } = await import("./parquet.ts");
      writeParquet(source, kind, output);
      break;
    }
    case workbookFormat: {
      const { writeWorkbook } = await import("./workbook.ts");
      await writeWorkbook(source, ofFile, licence, output);
    }
  }
}

function* csvRows(kind: RecordKind): Generator<string> {
  const columns = recordColumns[kind];
  yield csvHeading(columns) + lineEnd;
  for (const record of source.records(kind)) yield csvRow(columns, record) + lineEnd;
}
