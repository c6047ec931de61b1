/** Checks generations: each file against its facts, and on request its whole content. */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { currentOrNull, type DatasetList, findBefore } from "./catalogue.ts";
import { unread } from "./dataset-fault.ts";
import { hashFile } from "./dataset-hash.ts";
import { factsRemedy, type Generation } from "./generation.ts";
import { remedy } from "./open-generation.ts";
import { verifyGeneration } from "./verify.ts";

/**
 * Kind of fault:
 * - `file`: its file is not the published one
 * - `facts`: its facts cannot be read, or are those of another
 * - `program`: the file is sound, but this program cannot read it
 * - `unread`: the system refuses to read one of its two files, which may be sound
 */
type Wrong = "file" | "facts" | "program" | "unread";

export interface GenerationCheck {
  version: string;
  /** Path of its file. */
  file: string;
  isCurrent: boolean;
  /** Kind of fault; null if there is none. */
  wrong: Wrong | null;
  /** Sentence about the fault that names the file; null if there is none. */
  fault: string | null;
  /** Remedy; null if there is no fault. */
  mend: string | null;
}

/**
 * Checks generations one after the other, oldest first, and reads every byte of each.
 * @param readsBack reads every record and link, too, as before publishing.
 */
export function* checkGenerations(
  catalogue: DatasetList,
  readsBack: boolean,
  versions: readonly string[] = catalogue.versions(),
): Generator<GenerationCheck, void> {
  const current = currentOrNull(catalogue);
  for (const version of versions) {
    const file = catalogue.pathOf(version);
    const isCurrent = version === current;
    const found = findFault(catalogue, version, readsBack);
    if (found === null) yield { version, file, isCurrent, wrong: null, fault: null, mend: null };
    else
      yield {
        version,
        file,
        isCurrent,
        ...found,
        mend: found.mend ?? mendOf(catalogue, found.wrong, { version, isCurrent }),
      };
  }
}

interface Fault {
  wrong: Wrong;
  fault: string;
  /** Remedy, if it does not follow from the kind of fault. */
  mend?: string;
}

function findFault(catalogue: DatasetList, version: string, readsBack: boolean): Fault | null {
  const file = catalogue.pathOf(version);
  const facts = factsPathOf(catalogue, version);
  const ofFile = (fault: string): Fault => ({ wrong: "file", fault });
  if (!existsSync(file)) return ofFile(`${file} is missing, though ${facts} tells of it.`);
  if (!existsSync(facts)) return ofFile(`${file} is no dataset without ${facts}.`);
  for (const path of [file, facts]) {
    const found = unread(path);
    if (found !== null) return { wrong: "unread", fault: `${found.fault}.`, mend: found.mend };
  }
  try {
    const known = catalogue.find(version);
    const fault = fileFault(file, known);
    if (fault !== undefined) return ofFile(`${file} ${fault}.`);
    if (readsBack) verifyGeneration(file);
    return null;
  } catch (error) {
    return thrownFault((error as Error).message);
  }
}

/** Drops the advice at the end of a message, because `mendOf` gives one that fits the dataset. */
function thrownFault(message: string): Fault {
  const without = (advice: string) => message.slice(0, -advice.length).trimEnd();
  if (message.endsWith(remedy)) return { wrong: "program", fault: without(remedy) };
  if (message.endsWith(factsRemedy)) return { wrong: "facts", fault: without(factsRemedy) };
  return { wrong: "file", fault: message };
}

const factsPathOf = ({ folder }: DatasetList, version: string) => join(folder, `${version}.json`);

function mendOf(
  catalogue: DatasetList,
  wrong: Wrong,
  { version, isCurrent }: Pick<GenerationCheck, "version" | "isCurrent">,
): string {
  // A backup would not help, because it has the same.
  if (wrong === "program") return remedy;
  const facts = factsPathOf(catalogue, version);
  const files = `${catalogue.pathOf(version)} and ${facts}`;
  if (!isCurrent) return `It is not served: put ${files} back from a backup, or delete them.`;
  const back = wrong === "file" ? files : facts;
  return `Put ${back} back from a backup, and run 'gp-records datasets publish ${version}'; or ${wayOn(catalogue)}.`;
}

/** Returns a way to serve without the current dataset. */
const wayOn = (catalogue: DatasetList) =>
  findBefore(catalogue) === undefined
    ? `remove ${join(catalogue.folder, "current")} and import every source again`
    : "serve the dataset before it with 'gp-records datasets rollback'";

/**
 * Returns the fault of a file as the end of a sentence that begins with its path. Returns undefined if the file is the
 * published one.
 * @param expected facts of the file in the catalogue.
 */
function fileFault(path: string, expected: Generation): string | undefined {
  const size = statSync(path).size;
  if (size < expected.bytes) return `was cut off: it has ${size} of ${expected.bytes} bytes`;
  if (size > expected.bytes) return `has ${size} bytes; ${expected.bytes} were published`;
  return hashFile(path).sha256 === expected.sha256
    ? undefined
    : "is damaged: its SHA-256 is not that of the published file";
}
