/** Tries damaged files by the thousand and judges what becomes of each. */
import { collectFindings, type Findings } from "../finding.ts";
import type { FuzzOptions } from "../options.ts";
import { makeImport } from "./make-import.ts";
import { evidenceOf, tryImport } from "./try-import.ts";
import { openWorkshop } from "./workshop.ts";

export interface ImportsResult {
  findings: Findings;
  /** Files tried. */
  tried: number;
  /** Files of which some lines, or all, were taken. */
  taken: number;
  /** Lines rejected one by one. */
  linesRejected: number;
  linesRead: number;
  /** Files refused whole. */
  refused: number;
  documents: number;
  seconds: number;
}

const progressEvery = 1000;

export async function fuzzImports({
  seed,
  imports,
  secondsMax,
}: FuzzOptions): Promise<ImportsResult> {
  const findings = collectFindings();
  const shop = await openWorkshop();
  const started = performance.now();
  const seconds = () => (performance.now() - started) / 1000;
  const sums = { tried: 0, taken: 0, linesRejected: 0, linesRead: 0, refused: 0, documents: 0 };
  while (sums.tried < imports && seconds() < secondsMax) {
    const one = makeImport(seed, ++sums.tried);
    const { violations, outcome } = await tryImport(shop, one);
    for (const violation of violations)
      findings.add({
        ...violation,
        replay: `--only-import ${one.number}`,
        evidence: evidenceOf(one, 1500),
      });
    if (outcome === null) sums.refused++;
    else {
      sums.taken++;
      sums.linesRead += outcome.read;
      sums.linesRejected += outcome.rejected;
      sums.documents += outcome.documents;
    }
    if (sums.tried % progressEvery === 0)
      process.stderr.write(
        `${sums.tried} of ${imports} imports, ${sums.refused} refused, ${findings.count} findings\n`,
      );
  }
  return { findings, ...sums, seconds: seconds() };
}
