/** Tries one import and collects every rule it breaks. */
import { escapedBriefly } from "../escaped.ts";
import {
  isUnfit,
  judgeRefusal,
  judgeTaken,
  judgeTraces,
  type ImportViolation,
} from "./judge-import.ts";
import type { FuzzImport } from "./make-import.ts";
import type { Workshop } from "./workshop.ts";

export interface Trial {
  violations: ImportViolation[];
  /** Null where the file was refused whole. */
  outcome: { read: number; rejected: number; documents: number } | null;
  /** Why it was refused, or what was rejected. */
  words: string;
}

export async function tryImport(shop: Workshop, one: FuzzImport): Promise<Trial> {
  const violations: ImportViolation[] = [];
  const started = performance.now();
  let outcome: Trial["outcome"] = null;
  let words: string;
  try {
    const unfitLines: number[] = [];
    const taken = await shop.take(one, (entry) => {
      if (isUnfit(one, entry)) unfitLines.push(entry.line);
    });
    violations.push(...judgeTaken(one, shop, taken, unfitLines));
    const { read, rejections } = taken.collected;
    outcome = { read, rejected: rejections.count, documents: taken.documents.length };
    words = JSON.stringify(rejections.listed, null, 1);
  } catch (error) {
    violations.push(...judgeRefusal(one, shop, error));
    words = (error as Error).stack ?? String(error);
  }
  violations.push(...judgeTraces(shop, (performance.now() - started) / 1000));
  return { violations, outcome, words };
}

export function evidenceOf(
  { name, table, mapping, isControl, isWhole }: FuzzImport,
  lengthMax: number,
): string {
  return [
    `${isControl ? "sound" : "damaged"} ${name}${isWhole ? ", published" : ""}`,
    `table ${escapedBriefly(table, lengthMax)}`,
    ...(mapping === null ? [] : [`mapping ${escapedBriefly(mapping, lengthMax)}`]),
  ].join("\n");
}
