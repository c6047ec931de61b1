/** Clears files that a killed command may leave in the folder of datasets. */
import { existsSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { asideShape, syncPath } from "#store/whole-file.ts";
import { readIfThere } from "./dataset-fault.ts";
import { type Generation, versionShape } from "./generation.ts";

/** Name of a dataset being built. */
export const draftName = ".draft.sqlite";
/** Name of the file with texts of records, while a large dataset is built. */
export const draftTextsName = ".draft.sqlite.texts";
/**
 * Name of the facts of a dataset that is being named or published for the first time. They are written before any other
 * change and removed after the last, so they tell how to finish or undo an interrupted change.
 */
export const draftFactsName = ".draft.json";

/** Clears leftovers. The caller holds the import lock, so that no unfinished file belongs to a running process. */
export function clearLeftovers(folder: string): void {
  settleDraft(folder);
  for (const name of readdirSync(folder))
    if (name.startsWith(draftName) || (asideShape.test(name) && isOurs(name))) remove(folder, name);
}

const isOurs = (name: string) => /^(?:current|\d{8}T\d{6}Z-[0-9a-f]{8}\.json)\./.test(name);

const remove = (folder: string, name: string) => rmSync(join(folder, name), { force: true });

/**
 * Finds a named dataset whose first publication the pointer does not confirm: it is under way or was interrupted. Returns
 * null if there is none, or a damaged pointer cannot tell.
 * @returns a dataset that is staged as before if `published_at` is null. Otherwise an import was about to publish it, and
 *   it does not count as a dataset yet.
 */
export function findUnconfirmed(folder: string): Generation | null {
  const facts = readDraftFacts(folder);
  if (facts === null || !existsSync(join(folder, `${facts.version}.json`))) return null;
  const current = readPointer(folder);
  const isUnconfirmed = current === null || (isVersion(current) && current !== facts.version);
  return isUnconfirmed ? facts : null;
}

/** Finishes or undoes an interrupted change, whichever leaves a sound dataset in a known state. */
export function settleDraft(folder: string): void {
  if (!existsSync(join(folder, draftFactsName))) return;
  const facts = readDraftFacts(folder);
  const unconfirmed = findUnconfirmed(folder);
  const current = readPointer(folder);
  // Nobody acted upon a truncated file.
  if (facts !== null) {
    const { version } = facts;
    const hasFacts = existsSync(join(folder, `${version}.json`));
    if (hasFacts && current !== null && !isVersion(current)) return;
    if (unconfirmed?.published_at === null) {
      renameSync(join(folder, draftFactsName), join(folder, `${version}.json`));
    } else if (!hasFacts || unconfirmed !== null) {
      remove(folder, `${version}.sqlite`);
      remove(folder, `${version}.json`);
    }
  }
  remove(folder, draftFactsName);
  syncPath(folder);
}

const isVersion = (text: string) => versionShape.test(text);

const readPointer = (folder: string) => readIfThere(join(folder, "current"))?.trim() ?? null;

/** Reads the facts of a draft. Returns null if there are none, or the file was truncated. */
function readDraftFacts(folder: string): Generation | null {
  const text = readIfThere(join(folder, draftFactsName));
  if (text === null) return null;
  try {
    const facts = JSON.parse(text) as Generation | null;
    return isVersion(String(facts?.version)) ? facts : null;
  } catch {
    return null;
  }
}
