/** A data folder in which records have been published, as an operator does it. */
import { join } from "node:path";
import { done } from "./program.ts";
import { writeRecords } from "./records.ts";
import type { Work } from "./work.ts";

export async function publishedFolder(work: Work, recordCount: number): Promise<string> {
  const dataDir = work.folder();
  const file = join(dataDir, "records.ndjson");
  await writeRecords(file, recordCount, 1);
  await done(work, dataDir, "import", "ndjson", file, "--source", "own");
  return dataDir;
}
