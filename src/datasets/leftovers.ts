/** What a command that was killed may leave in the folder of datasets, and how the next one clears it away. */
import { existsSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Generation, versionShape } from "./generation.ts";
import { asideShape, readIfThere, syncPath } from "./whole-file.ts";

/** A dataset in the making. */
export const draftName = ".draft.sqlite";
/**
 * What is known of a dataset that gets its name or becomes the current one for the first time: written before anything
 * else is changed and removed once all is done, so it tells what becomes of a change that was broken off.
 */
export const draftFactsName = ".draft.json";

/** Only for whoever holds the import lock: everybody else's unfinished files are then nobody's. */
export function clearLeftovers(folder: string): void {
  settleDraft(folder);
  for (const name of readdirSync(folder))
    if (name.startsWith(draftName) || (asideShape.test(name) && isOurs(name))) remove(folder, name);
}

const isOurs = (name: string) => /^(?:current|\d{8}T\d{6}Z-[0-9a-f]{8}\.json)\./.test(name);

const remove = (folder: string, name: string) => rmSync(join(folder, name), { force: true });

/**
 * A dataset that has its name and was to become the current one for the first time, which the pointer does not confirm:
 * that is under way, or was broken off. Null where there is none, or the pointer is damaged and nobody can tell.
 * @returns `published_at` null where the dataset is staged as before; else an import made it to be published at once,
 *   and it is no dataset yet.
 */
export function findUnconfirmed(folder: string): Generation | null {
  const facts = readDraftFacts(folder);
  if (facts === null || !existsSync(join(folder, `${facts.version}.json`))) return null;
  const current = readPointer(folder);
  const isUnconfirmed = current === null || (isVersion(current) && current !== facts.version);
  return isUnconfirmed ? facts : null;
}

/** Brings a change that was broken off to its end, or undoes it: whichever leaves a whole dataset in a known state. */
export function settleDraft(folder: string): void {
  if (!existsSync(join(folder, draftFactsName))) return;
  const facts = readDraftFacts(folder);
  const unconfirmed = findUnconfirmed(folder);
  const current = readPointer(folder);
  // Cut off, it was never acted upon.
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

/** Null where they are not there, or were cut off. */
function readDraftFacts(folder: string): Generation | null {
  const text = readIfThere(join(folder, draftFactsName));
  if (text === null) return null;
  try {
    const facts = JSON.parse(text) as Generation | null;
    return facts !== null && isVersion(String(facts.version))
      ? { ...facts, pinned_at: facts.pinned_at ?? null }
      : null;
  } catch {
    return null;
  }
}
