/** Checks the generations there are: each file against its SHA-256, and all it holds if that is asked for. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Catalogue } from "./catalogue.ts";
import { fileFault } from "./file-fault.ts";
import { remedy } from "./open-generation.ts";
import { verifyGeneration } from "./verify.ts";

export interface GenerationCheck {
  version: string;
  /** Path of its file. */
  file: string;
  isCurrent: boolean;
  /** What is wrong, a sentence that names the file; null where nothing is. */
  fault: string | null;
  /** What puts it right; null where nothing has to be. */
  mend: string | null;
}

/**
 * One after the other, oldest first; reads every byte of each.
 * @param readsBack reads every record and link too, as before publishing.
 */
export function* checkGenerations(
  catalogue: Catalogue,
  readsBack: boolean,
  versions: readonly string[] = catalogue.versions(),
): Generator<GenerationCheck, void> {
  const current = currentOrNull(catalogue);
  for (const version of versions) {
    const file = catalogue.pathOf(version);
    const isCurrent = version === current;
    const found = faultOf(catalogue, version, readsBack);
    // Where no byte is wrong but the program cannot read it, a backup would not help.
    const isForeign = found?.endsWith(remedy) === true;
    const fault = isForeign ? found.slice(0, -remedy.length).trimEnd() : found;
    const mend = fault === null ? null : isForeign ? remedy : mendOf(catalogue, version, isCurrent);
    yield { version, file, isCurrent, fault, mend };
  }
}

/** The pointer may be what is damaged; then no generation is the current one. */
function currentOrNull(catalogue: Catalogue): string | null {
  try {
    return catalogue.currentVersion();
  } catch {
    return null;
  }
}

function faultOf(catalogue: Catalogue, version: string, readsBack: boolean): string | null {
  const file = catalogue.pathOf(version);
  const facts = factsPathOf(catalogue, version);
  if (!existsSync(file)) return `${file} is missing, though ${facts} tells of it.`;
  if (!existsSync(facts)) return `${file} is no dataset without ${facts}.`;
  try {
    const fault = fileFault(file, catalogue.find(version));
    if (fault !== undefined) return `${file} ${fault}.`;
    if (readsBack) verifyGeneration(file);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

const factsPathOf = ({ folder }: Catalogue, version: string) => join(folder, `${version}.json`);

function mendOf(catalogue: Catalogue, version: string, isCurrent: boolean): string {
  const files = `${catalogue.pathOf(version)} and ${factsPathOf(catalogue, version)}`;
  return isCurrent
    ? `Put ${files} back from a backup, or serve the dataset before it with 'gp-records datasets rollback'.`
    : `It is not served: put ${files} back from a backup, or delete them.`;
}
