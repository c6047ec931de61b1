/** What a run of requests was and found, in lines for people. */
import { growthIn, mebibytes, momentsOf, type MemoryReading } from "./memory.ts";
import type { RequestsResult } from "./fuzz-requests.ts";

export function requestsText({
  tally,
  memory,
  seconds,
  pagesCompared,
  logLines,
}: RequestsResult): string {
  const { requests, conversations, answers } = tally;
  return [
    `${number(requests)} requests in ${number(conversations)} conversations, ${number(answers)} answers, ${Math.round(seconds)} s`,
    `  manners   ${timesText(tally.byManner)}`,
    `  endings   ${timesText(tally.byEnding)}`,
    `  statuses  ${timesText(tally.byStatus)}`,
    `  codes     ${timesText(tally.byCode)}`,
    `  faults    ${timesText(tally.byFault)}`,
    `  ${number(pagesCompared)} pages compared with the reference, ${number(logLines)} log lines read`,
    ...momentsOf(memory).map(readingText),
    ...growthText(memory),
  ].join("\n");
}

const moments = ["before any request", "all caches full", "half-way", "at the end"];

const readingText = ({ requests, rssBytes, heldBytes }: MemoryReading, at: number) =>
  `  memory ${moments[at]}, after ${number(requests)}: ${mebibytes(rssBytes)} resident, ${mebibytes(heldBytes)} held`;

function growthText(memory: readonly MemoryReading[]): string[] {
  const growth = growthIn(memory);
  if (growth === null) return [];
  const { rssBytes, rssSlopeBytes, heldSlopeBytes } = growth;
  return [
    `  resident at the end ${mebibytes(rssBytes)} more than with all caches full`,
    `  in the second half for each 100,000 requests: ${mebibytes(rssSlopeBytes)} resident, ${mebibytes(heldSlopeBytes)} held`,
  ];
}

const timesText = (counts: ReadonlyMap<string | number, number>) =>
  [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .map(([name, times]) => `${name} × ${number(times)}`)
    .join(", ");

const number = (value: number) => value.toLocaleString("en-US");
