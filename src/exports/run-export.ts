/** Runs an export in a separate thread, so that the caller loads none of the code that writes files. */
import { addAbortListener } from "node:events";
import { Worker } from "node:worker_threads";
import { DatasetFault } from "#datasets/dataset-fault.ts";
import type { Generation } from "#datasets/generation.ts";
import type { RecordKind } from "#records/kinds.ts";

/** Formats with a file for each kind. The file's name ends in the format. */
export const fileFormats = ["ndjson", "csv", "parquet"] as const;
export type FileFormat = (typeof fileFormats)[number];

/** Format with the records of all chosen kinds in one file. */
export const workbookFormat = "xlsx";

export interface ExportOrder {
  path: string;
  generation: Generation;
  kinds: readonly RecordKind[];
  format: FileFormat | typeof workbookFormat;
  /** Folder for the files. It must exist. */
  folder: string;
  /** Licence of the data, for a workbook; null if the operator does not state it. */
  licence: string | null;
}

export interface ExportedFile {
  file: string;
  records: number;
  bytes: number;
  sha256: string;
}

/** Memory limits of the thread. They suffice for the largest record, but make garbage collection start early. */
const resourceLimits = { maxYoungGenerationSizeMb: 3, maxOldGenerationSizeMb: 64 };

/**
 * Runs an export. Resolves to its files. Rejects with an Error if it is stopped, or if a file cannot be written.
 * @param signal signal that stops the export. The next export of the same file overwrites an unfinished one.
 * @throws DatasetFault if the dataset cannot be read, or is too large for a workbook.
 */
export async function runExport(order: ExportOrder, signal?: AbortSignal): Promise<ExportedFile[]> {
  signal?.throwIfAborted();
  const worker = new Worker(new URL("./export-worker.ts", import.meta.url), {
    workerData: order,
    resourceLimits,
  });
  using _stopping = signal && addAbortListener(signal, () => void worker.terminate());
  return await new Promise((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", (error) => reject(faultOf(error as Error)));
    worker.once("exit", () => reject(new Error("The export was stopped before it was complete.")));
  });
}

/** Restores the class of a DatasetFault, which is lost between threads. */
function faultOf(error: Error & { kind?: DatasetFault["kind"] }): Error {
  return error.name === "DatasetFault" ? new DatasetFault(error.message, error.kind) : error;
}
