/** Tries one import of a run alone and tells everything about it. */
import { makeImport } from "./make-import.ts";
import { evidenceOf, tryImport } from "./try-import.ts";
import { openWorkshop } from "./workshop.ts";

export async function replayImport(seed: number, number: number): Promise<string> {
  const shop = await openWorkshop();
  const one = makeImport(seed, number);
  const { violations, outcome, words } = await tryImport(shop, one);
  return [
    evidenceOf(one, Number.POSITIVE_INFINITY),
    outcome === null ? "refused" : JSON.stringify(outcome),
    words,
    ...violations.map(({ rule, detail }) => `BROKEN ${rule}: ${detail}`),
    `${violations.length} rules broken`,
  ].join("\n");
}
