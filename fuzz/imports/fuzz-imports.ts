/** Tries damaged files by the thousand and judges what becomes of each. */
import fc, { type IAsyncPropertyWithHooks } from "fast-check";
import { printable, refuse, run, type FuzzOptions, type Violation } from "../run.ts";
import { anyDraft, makeImport, type Draft, type FuzzImport } from "./any-import.ts";
import { isUnfit, judgeRefusal, judgeTaken, judgeTraces } from "./judge-import.ts";
import { openWorkshop, type Workshop } from "./workshop.ts";

/** Returns what was found. */
export async function fuzzImports(options: FuzzOptions): Promise<string[]> {
  const ends = { taken: 0, refused: 0 };
  const property = await eachImport((isTaken) => void ends[isTaken ? "taken" : "refused"]++);
  const found = await run(property, options, options.count, "--count");
  console.log(`imports: ${ends.taken} read to their end, ${ends.refused} refused whole`);
  return found;
}

/** Any import is taken with its sums right or refused in words, and leaves no trace that it should not. */
export async function eachImport(
  whenEnded: (isTaken: boolean) => void = () => {},
): Promise<IAsyncPropertyWithHooks<[Draft]>> {
  let shop = await openWorkshop();
  return fc.asyncProperty(anyDraft, async (draft) => {
    const one = makeImport(draft);
    const { violations, words, isTaken } = await tryImport(shop, one);
    whenEnded(isTaken);
    // What the next one finds must not be what this one has left.
    if (violations.length > 0) shop = await openWorkshop();
    const { table, mapping } = one;
    refuse(violations, () =>
      [
        words,
        `table ${printable(table)}`,
        ...(mapping === null ? [] : [`mapping ${printable(mapping)}`]),
      ].join("\n"),
    );
  });
}

interface Trial {
  violations: Violation[];
  /** False where the file was refused whole. */
  isTaken: boolean;
  /** Why it was refused, or what was rejected. */
  words: string;
}

async function tryImport(shop: Workshop, one: FuzzImport): Promise<Trial> {
  const started = performance.now();
  const traces = () => judgeTraces(shop, (performance.now() - started) / 1000);
  try {
    const unfitLines: number[] = [];
    const taken = await shop.take(one, (entry) => {
      if (isUnfit(one, entry)) unfitLines.push(entry.line);
    });
    return {
      violations: [...judgeTaken(one, shop, taken, unfitLines), ...traces()],
      isTaken: true,
      words: JSON.stringify(taken.collected.rejections.listed, null, 1),
    };
  } catch (error) {
    return {
      violations: [...judgeRefusal(one, shop, error), ...traces()],
      isTaken: false,
      words: (error as Error).stack ?? String(error),
    };
  }
}
