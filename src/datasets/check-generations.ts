/** Checks a generation: its file against its facts, and on request its whole content. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { currentOrNull, type DatasetList, findBefore } from "./catalogue.ts";
import { unread } from "./dataset-fault.ts";
import { factsRemedy } from "./generation.ts";
import { findFileFault, openAs, remedy } from "./open-generation.ts";
import { verifyGeneration } from "./verify.ts";

export type GenerationCheck = ReturnType<typeof checkGeneration>;

/**
 * Checks a generation by reading every byte of its file.
 * @param readsBack true to read back every record and link too, as an import does before publishing.
 * @returns the path of the SQLite `file`. `fault` is a sentence that names the faulty file, and `mend` is the remedy.
 *   Both are null if there is no fault.
 */
export function checkGeneration(catalogue: DatasetList, version: string, readsBack: boolean) {
  const isCurrent = version === currentOrNull(catalogue);
  const file = catalogue.pathOf(version);
  const facts = join(catalogue.folder, `${version}.json`);
  const files = `${file} and ${facts}`;
  const checked = (fault: string | null, mend: string | null) => {
    return { version, file, isCurrent, fault, mend };
  };
  const broken = (fault: string, part = files) =>
    checked(
      fault,
      isCurrent
        ? `Put ${part} back from a backup, and run 'gp-records datasets publish ${version}'; or ${wayOn(catalogue)}.`
        : `This dataset is not the current one. Put ${files} back from a backup, or delete both files.`,
    );
  if (!existsSync(file)) return broken(`${file}, which ${facts} describes, is missing.`);
  if (!existsSync(facts)) return broken(`${facts}, which describes ${file}, is missing.`);
  for (const path of [file, facts]) {
    const found = unread(path);
    if (found !== null) return checked(`${found.fault}.`, found.mend);
  }
  try {
    const known = catalogue.find(version);
    const fault = findFileFault(file, known);
    if (fault !== undefined) return broken(`${file} ${fault}.`);
    if (readsBack) {
      openAs(file, known).db.close();
      verifyGeneration(file);
    }
    return checked(null, null);
  } catch (error) {
    const { message } = error as Error;
    const without = (advice: string) => message.slice(0, -advice.length).trimEnd();
    if (message.endsWith(factsRemedy)) return broken(without(factsRemedy), facts);
    // A backup would not help, because it contains the same file.
    if (!message.endsWith(remedy)) return broken(message);
    const ofSpare = "This dataset is not the current one: leave it, or delete its files.";
    return checked(without(remedy), isCurrent ? remedy : ofSpare);
  }
}

/** Returns advice on how to serve without the current dataset. */
const wayOn = (catalogue: DatasetList) =>
  findBefore(catalogue) === undefined
    ? `remove ${join(catalogue.folder, "current")} and import every source again`
    : "return to the dataset before it with 'gp-records datasets rollback'";
