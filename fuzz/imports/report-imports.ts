/** What a run of imports was and found, in lines for people. */
import type { ImportsResult } from "./fuzz-imports.ts";

export function importsText(result: ImportsResult): string {
  const { tried, taken, refused, linesRead, linesRejected, documents, seconds } = result;
  return [
    `${number(tried)} imports, ${Math.round(seconds)} s`,
    `  ${number(taken)} read to their end: ${number(linesRead)} lines, ${number(linesRejected)} of them rejected, ${number(documents)} documents published and read back`,
    `  ${number(refused)} refused whole`,
  ].join("\n");
}

const number = (value: number) => value.toLocaleString("en-US");
