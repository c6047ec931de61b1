/** Amounts of money: rounded as people round them, and said in words. */

/** Keeps three digits: 48,137,522 becomes 48,100,000. */
export function roundAmount(value: number): number {
  let step = 1;
  while (value / step >= 1000) step *= 10;
  return Math.round(value / step) * step;
}

const million = 1_000_000;
const billion = 1000 * million;

/** `$48.1 million` of a rounded amount of at least 1,000. */
export function amountWords(value: number): string {
  if (value >= billion) return `$${short(value / billion)} billion`;
  if (value >= million) return `$${short(value / million)} million`;
  return `$${Math.round(value / 1000)},000`;
}

/** Three digits at most, no zeros behind the point. */
const short = (value: number) => String(Math.round(value * 100) / 100);
