/** What a command that was killed may leave in the folder of datasets, and how the next one clears it away. */
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { asideShape } from "./whole-file.ts";

/** A dataset in the making. */
export const draftName = ".draft.sqlite";
/** What is known of it, from the moment it is whole until it has its name. */
export const draftFactsName = ".draft.json";

/** Only for whoever holds the import lock: everybody else's unfinished files are then nobody's. */
export function clearLeftovers(folder: string): void {
  clearHalfAdded(folder);
  for (const name of readdirSync(folder))
    if (name.startsWith(draftName) || (asideShape.test(name) && isOurs(name))) remove(folder, name);
}

const isOurs = (name: string) => /^(?:current|\d{8}T\d{6}Z-[0-9a-f]{8}\.json)\./.test(name);

const remove = (folder: string, name: string) => rmSync(join(folder, name), { force: true });

/** A dataset gets its name first and its facts second; without them the draft's facts say whose file it is. */
function clearHalfAdded(folder: string): void {
  const facts = join(folder, draftFactsName);
  if (!existsSync(facts)) return;
  const version = versionIn(readFileSync(facts, "utf8"));
  if (version !== undefined && !existsSync(join(folder, `${version}.json`)))
    remove(folder, `${version}.sqlite`);
  remove(folder, draftFactsName);
}

/** Undefined where the text was cut off. */
function versionIn(text: string): string | undefined {
  try {
    return (JSON.parse(text) as { version: string }).version;
  } catch {
    return undefined;
  }
}
