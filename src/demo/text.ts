/** Sentences with gaps, and amounts of money the way people round and write them. */

/** Fills the gaps of a sentence, such as `{gp} buys {project}`, from left to right. */
export const fill = (sentence: string, say: (gap: string) => string): string =>
  sentence.replace(/\{(\w+)\}/g, (_, gap: string) => say(gap));

/** Rounds to three digits: 48,137,522 becomes 48,100,000. */
export function roundAmount(value: number): number {
  let step = 1;
  while (value / step >= 1000) step *= 10;
  return Math.round(value / step) * step;
}

const million = 1_000_000;
const billion = 1000 * million;

/** Returns a rounded amount of at least 1,000 in words, such as `$48.1 million`. */
export function amountWords(value: number): string {
  if (value >= billion) return `$${twoDecimals(value / billion)} billion`;
  if (value >= million) return `$${twoDecimals(value / million)} million`;
  return `$${Math.round(value / 1000)},000`;
}

const twoDecimals = (value: number) => String(Math.round(value * 100) / 100);
