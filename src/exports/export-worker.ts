/** The thread that writes files of records. Its memory is limited, and returned to the system at its end. */
import { parentPort, workerData } from "node:worker_threads";
import { lowerOwnPriority } from "#datasets/priority.ts";
import { exportKind, exportWorkbook } from "./export-files.ts";
import { openRecordSource } from "./record-source.ts";
import { type ExportedFile, type ExportOrder, workbookFormat } from "./run-export.ts";

// Requests, and other work of the machine, come first.
lowerOwnPriority();
const { path, generation, kinds, format, folder, licence } = workerData as ExportOrder;
const source = openRecordSource(path, generation);
const files: ExportedFile[] = [];
if (format === workbookFormat) files.push(await exportWorkbook(source, kinds, licence, folder));
else for (const kind of kinds) files.push(await exportKind(source, kind, format, folder));
source.close();
parentPort!.postMessage(files);
