/** Tries damaged files by the thousand and judges what becomes of each. */
import fc, { type IAsyncPropertyWithHooks } from "fast-check";
import { weighted } from "../arbitraries.ts";
import { printable, refuse, run, type FuzzOptions, type Violation } from "../run.ts";
import { anyFolder, makeFolder, type FolderDraft, type FuzzFolder } from "./any-folder.ts";
import { anyDraft, makeImport, type Draft, type FuzzImport } from "./any-import.ts";
import {
  findForbidden,
  isUnfit,
  judgeFolderTaken,
  judgeRefusal,
  judgeTaken,
  judgeTraces,
} from "./judge-import.ts";
import { openWorkshop, type Workshop } from "./workshop.ts";

/** Returns what was found. */
export async function fuzzImports(options: FuzzOptions): Promise<string[]> {
  const ends = { files: { taken: 0, refused: 0 }, folders: { taken: 0, refused: 0 } };
  const property = await eachImport(
    (what, isTaken) => void ends[what][isTaken ? "taken" : "refused"]++,
  );
  const found = await run(property, options, options.count, "--count");
  for (const [what, { taken, refused }] of Object.entries(ends))
    console.log(`${what}: ${taken} read to their end, ${refused} refused whole`);
  return found;
}

export type AnyDraft = Draft | FolderDraft;

/** Any import is taken with its sums right or refused in words, and leaves no trace that it should not. */
export async function eachImport(
  whenEnded: (what: "files" | "folders", isTaken: boolean) => void = () => {},
): Promise<IAsyncPropertyWithHooks<[AnyDraft]>> {
  let shop = await openWorkshop();
  const any = weighted<AnyDraft>([1, anyDraft], [1, anyFolder]);
  return fc.asyncProperty(any, async (draft) => {
    const one = "path" in draft ? await makeFolder(draft) : makeImport(draft);
    const isFolder = "files" in one;
    const { violations, words, isTaken } = await tryImport(shop, one);
    whenEnded(isFolder ? "folders" : "files", isTaken);
    // What the next one finds must not be what this one has left.
    if (violations.length > 0) shop = await openWorkshop();
    const parts = isFolder ? { damaged: one.damaged } : { table: one.table, mapping: one.mapping };
    const shown = Object.entries(parts).map(
      ([name, bytes]) => bytes && `${name} ${printable(bytes)}`,
    );
    refuse(violations, () => [words, ...shown].join("\n"));
  });
}

interface Trial {
  violations: Violation[];
  /** False where the file was refused whole. */
  isTaken: boolean;
  /** Why it was refused, or what was rejected. */
  words: string;
}

async function tryImport(shop: Workshop, one: FuzzImport | FuzzFolder): Promise<Trial> {
  const started = performance.now();
  const traces = () => judgeTraces(shop, (performance.now() - started) / 1000);
  try {
    const { violations, collected } = await ("files" in one
      ? takeFolder(shop, one)
      : takeFile(shop, one));
    return {
      violations: [...violations, ...traces()],
      isTaken: true,
      words: JSON.stringify(collected.rejections.listed, null, 1),
    };
  } catch (error) {
    return {
      violations: [...judgeRefusal(one, shop, error), ...traces()],
      isTaken: false,
      words: (error as Error).stack ?? String(error),
    };
  }
}

async function takeFile(shop: Workshop, one: FuzzImport) {
  const unfitLines: number[] = [];
  const taken = await shop.take(one, (entry) => {
    if (isUnfit(one, entry)) unfitLines.push(entry.line);
  });
  return { ...taken, violations: judgeTaken(one, shop, taken, unfitLines) };
}

async function takeFolder(shop: Workshop, one: FuzzFolder) {
  const violations: Violation[] = [];
  const taken = await shop.takeFolder(one, (entry) => {
    const detail = findForbidden(one, entry);
    if (detail !== null) violations.push({ rule: "what no record may say was taken", detail });
  });
  return { ...taken, violations: [...violations, ...judgeFolderTaken(one, taken)] };
}
