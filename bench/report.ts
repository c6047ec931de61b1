/** What a run says in the end: on what it was measured, the tables, and how to read them. */
import { availableParallelism, cpus, loadavg } from "node:os";
import { type Checkout, ownCommit } from "./checkouts.ts";
import type { Measured } from "./measure-all.ts";
import type { Options } from "./options.ts";
import type { CostResult } from "./rows/cost.ts";
import { asMarkdown, asText, comparedCells, figureCells, stepCells } from "./table.ts";

export function report(
  { isMarkdown }: Options,
  [own, other]: readonly Checkout[],
  { figures, cost, steps, faults }: Measured,
): string {
  const write = isMarkdown ? asMarkdown : asText;
  const cells =
    other === undefined ? figureCells(figures) : comparedCells(figures, [own!.name, other.name]);
  return [
    surroundings(),
    ...(loadAtStart > availableParallelism() / 2 ? [busyText] : []),
    ...(cost === null ? [] : [mixText(cost)]),
    ...(figures.length === 0 ? [] : [write(cells)]),
    ...(steps.length === 0 ? [] : [write(stepCells(steps))]),
    ...faults.map((fault) => `NOT MEASURED: ${fault}`),
  ].join("\n\n");
}

/** Before the run has added its own. */
const loadAtStart = loadavg()[0]!;

/** Without these a figure says nothing. */
export function surroundings(): string {
  const model = cpus()[0]?.model.trim() ?? "unknown processor";
  const command = ["npm run bench", ...process.argv.slice(2)];
  if (command.length > 1) command.splice(1, 0, "--");
  return [
    `${new Date().toISOString().slice(0, 10)}, commit ${ownCommit()}, Node ${process.versions.node}`,
    `${availableParallelism()} × ${model}, load ${loadAtStart.toFixed(1)} before the run`,
    `\`${command.join(" ")}\``,
  ].join("; ");
}

const busyText =
  "Others were at work on this machine: shares and ratios of processor time hold, waiting times and whole seconds do not.";

function mixText({ sizes, bareMicroseconds }: CostResult): string {
  const kilobytes = (sizes.bodyBytesMean / 1000).toFixed(1);
  return `Mix: 2,000 queries over the four operations, Zipf 1.0, 200 keys, limit 20; mean body ${kilobytes} kB, headers ${sizes.headerBytes} B. Bare node:http takes ${bareMicroseconds.toFixed(1)} µs a request; shares are of that.`;
}
