/** Runs an export in a thread of its own; loads none of the code that writes files. */
import { Worker } from "node:worker_threads";
import { DatasetFault } from "#datasets/dataset-fault.ts";
import type { Generation } from "#datasets/generation.ts";
import type { RecordKind } from "#records/kinds.ts";

/** Formats with a file for each kind, as the ending of its name. */
export const fileFormats = ["ndjson", "csv", "parquet"] as const;
export type FileFormat = (typeof fileFormats)[number];

/** One file with all records. */
export const workbookFormat = "xlsx";

export interface ExportOrder {
  /** Of the dataset. */
  path: string;
  generation: Generation;
  kinds: readonly RecordKind[];
  format: FileFormat | typeof workbookFormat;
  /** Where the files go; it has to be there. */
  folder: string;
  /** Of the data, for a workbook; null where the operator does not state it. */
  licence: string | null;
}

export interface ExportedFile {
  /** Its path. */
  file: string;
  records: number;
  bytes: number;
  sha256: string;
}

/** Enough for the largest records there can be, and little enough that garbage is collected soon. MB. */
const resourceLimits = { maxYoungGenerationSizeMb: 3, maxOldGenerationSizeMb: 64 };

/**
 * @param signal ends it; unfinished files are overwritten by the next one.
 * @throws DatasetFault where the dataset cannot be read, or is too large for a workbook.
 */
export async function runExport(order: ExportOrder, signal?: AbortSignal): Promise<ExportedFile[]> {
  signal?.throwIfAborted();
  const worker = new Worker(new URL("./export-worker.ts", import.meta.url), {
    workerData: order,
    resourceLimits,
  });
  signal?.addEventListener("abort", () => void worker.terminate());
  return new Promise((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", (error) => reject(faultOf(error as Error)));
    worker.once("exit", () => reject(new Error("The export was stopped before it was done.")));
  });
}

/** Classes of our own do not survive the way between threads. */
function faultOf(error: Error & { kind?: DatasetFault["kind"] }): Error {
  return error.name === "DatasetFault" ? new DatasetFault(error.message, error.kind) : error;
}
