/** Real files for the importers to read, in a folder that goes when the test is over. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { readCsv } from "#importers/csv.ts";
import { ImportFault } from "#importers/import-fault.ts";
import type { Mapping } from "#importers/mapping.ts";
import { readMapping } from "#importers/read-mapping.ts";
import type { ReadOptions } from "#importers/source-file.ts";
import type { SourceEntry } from "#records/canonical.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

export function writtenFile(t: TestContext, name: string, content: string | Uint8Array): string {
  const path = join(temporaryFolder(t), name);
  writeFileSync(path, content);
  return path;
}

/** A mapping that went through the file, so that it is checked as an operator's would be. */
export function writtenMapping(t: TestContext, mapping: object): Promise<Mapping> {
  return readMapping(writtenFile(t, "mapping.json", JSON.stringify(mapping)));
}

/** The entries of one CSV file of the given text. */
export async function csvEntries(
  t: TestContext,
  content: string | Uint8Array,
  mapping: object,
  options: ReadOptions = {},
): Promise<SourceEntry[]> {
  const file = writtenFile(t, "table.csv", content);
  return Array.fromAsync(readCsv([file], await writtenMapping(t, mapping), options));
}

/** A mapping of GPs with an id, a name and these fields. */
export function gpMapping(fields: object = {}, members: object = {}): object {
  return { records: [{ record: "gp", id: "Id", fields: { name: "Name", ...fields } }], ...members };
}

/** The fault a promise is refused with. */
export async function faultOf(promise: Promise<unknown>): Promise<ImportFault> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof ImportFault) return error;
  throw new Error("an ImportFault was expected", { cause: error });
}
