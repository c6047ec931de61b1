/** Something the program must not do, and how to see it again. */

export interface Finding {
  /** The rule that was broken, the same for all findings of one kind. */
  rule: string;
  /** What was found this time. */
  detail: string;
  /** Shows it again: `--only 17`. */
  replay: string;
  /** What was sent or read, and what came of it, printable. */
  evidence: string;
}

/** Findings of one rule that are printed in full; of one fault there may be thousands. */
const shownMax = 3;

export interface Findings {
  readonly count: number;
  add(finding: Finding): void;
  /** As text for people; empty where there are none. */
  text(seed: number): string;
}

export function collectFindings(): Findings {
  const shown = new Map<string, Finding[]>();
  const counts = new Map<string, number>();
  let count = 0;
  return {
    get count() {
      return count;
    },
    add(finding) {
      count++;
      const { rule } = finding;
      counts.set(rule, (counts.get(rule) ?? 0) + 1);
      const known = shown.get(rule) ?? [];
      if (known.length < shownMax) shown.set(rule, [...known, finding]);
    },
    text: (seed) =>
      [...shown]
        .flatMap(([rule, list]) => [
          `FOUND ${counts.get(rule)} × ${rule}`,
          ...list.map((finding) => findingText(finding, seed)),
        ])
        .join("\n"),
  };
}

function findingText({ detail, replay, evidence }: Finding, seed: number): string {
  const indented = evidence.replaceAll(/^/gm, "    ");
  return `  ${detail}\n  npm run fuzz -- --seed ${seed} ${replay}\n${indented}\n`;
}
