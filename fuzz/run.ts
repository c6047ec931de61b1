/** Runs a property of fast-check as the options say, and puts what it has found into words. */
import fc, { type IAsyncPropertyWithHooks } from "fast-check";

export interface FuzzOptions {
  seed: number;
  /** The one case to begin from, as a failure names it. */
  path: string | undefined;
  /** How many requests or imports to try, about. */
  count: number;
  /** It ends after so long, whatever is left. */
  secondsMax: number;
}

/** A rule that was broken. */
export interface Violation {
  rule: string;
  detail: string;
}

/** Throws where a rule was broken, so that fast-check looks for the smallest case that breaks one. */
export function refuse(violations: readonly Violation[], evidence: () => string): void {
  if (violations.length === 0) return;
  const rules = violations.map(({ rule, detail }) => `BROKEN ${rule}: ${detail.slice(0, 1000)}`);
  throw new Error([...rules, evidence()].join("\n"));
}

/** Returns the smallest failure with the command that tries it again; empty where nothing failed. */
export async function run<T>(
  property: IAsyncPropertyWithHooks<T>,
  { seed, path, secondsMax }: FuzzOptions,
  numRuns: number,
  otherPart: "--count" | "--imports",
): Promise<string[]> {
  const details = await fc.check(property, {
    seed,
    ...(path !== undefined && { path }),
    numRuns,
    interruptAfterTimeLimit: secondsMax * 1000,
  });
  if (!details.failed) return [];
  const message = await fc.asyncDefaultReportMessage(details);
  const command = `npm run fuzz -- --seed ${seed} --path ${details.counterexamplePath} ${otherPart} 0`;
  return [`${message}\n${(details.errorInstance as Error).message}\n${command}`];
}

/** Shows bytes as text that can be printed: one character each, escaped as in JavaScript, long ones cut. */
export const printable = (bytes: Buffer): string =>
  JSON.stringify(bytes.toString("latin1", 0, 3000));
