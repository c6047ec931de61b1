/** Chance from a seed: the same seed gives the same choices on every machine. */

/** Gives the next number, from 0 to just under 1. */
export type Random = () => number;

/**
 * A sequence of numbers for one purpose; drawing more from one sequence never shifts another.
 * The generator is Mulberry32 (T. Ettinger): one word of state, quick before it is compiled.
 * @param seed any number; its lowest 32 bits count.
 */
export function startRandom(seed: number, purpose: string): Random {
  let state = hash(`${seed | 0} ${purpose}`);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at++)
    value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return value | 0;
}

/** True for the given share of draws, from 0 to 1. */
export const chance = (random: Random, share: number): boolean => random() < share;

/** A whole number from `minimum` to `maximum`, both possible. */
export const whole = (random: Random, minimum: number, maximum: number): number =>
  minimum + Math.floor(random() * (maximum - minimum + 1));

/** One of a list that is not empty. */
export const pick = <T>(random: Random, list: readonly T[]): T =>
  list[Math.floor(random() * list.length)] as T;

/** One of a list that is not empty; the first comes up most. */
export const pickEarly = <T>(random: Random, list: readonly T[]): T =>
  list[gentlyFirst(random, list.length)] as T;

/** The values given and up to `count` different ones; fewer where a draw repeats one. */
export function drawMore<T>(given: readonly T[], count: number, draw: () => T): T[] {
  const values = [...given];
  for (let at = 0; at < count; at++) {
    const value = draw();
    if (!values.includes(value)) values.push(value);
  }
  return trimmed(values);
}

/** Up to `count` different values of a list, in the order of the list. */
export function pickSome<T>(random: Random, list: readonly T[], count: number): T[] {
  let wanted = Math.min(count, list.length);
  if (wanted === 0) return [];
  if (wanted === 1) return [pick(random, list)];
  let left = list.length;
  const chosen: T[] = [];
  for (const value of list) {
    if (random() * left < wanted) {
      chosen.push(value);
      wanted--;
    }
    left--;
  }
  return trimmed(chosen);
}

/** Each value with a chance of its own, in the order given. */
export function pickEach<T>(random: Random, shares: readonly (readonly [T, number])[]): T[] {
  const chosen: T[] = [];
  for (const entry of shares) if (random() < entry[1]) chosen.push(entry[0]);
  return chosen;
}

/** Chooses values as often as their weights say. */
export function weighted<T>(entries: readonly (readonly [T, number])[]): (random: Random) => T {
  const values = entries.map(([value]) => value);
  const bounds: number[] = [];
  let total = 0;
  for (const [, weight] of entries) bounds.push((total += weight));
  return (random) => {
    const mark = random() * total;
    let at = 0;
    while (at < bounds.length - 1 && mark >= (bounds[at] as number)) at++;
    return values[at] as T;
  };
}

/** Chooses the keys of an object as often as their weights say. */
export const weightedKeys = <K extends string>(
  weights: Readonly<Record<K, number>>,
): ((random: Random) => K) => weighted(Object.entries(weights) as [K, number][]);

/** Weights 1, 1/2, 1/3 … so that the head of a list comes up most (Zipf), softened by `offset`. */
export const headFirst = <T>(list: readonly T[], offset: number): (readonly [T, number])[] =>
  list.map((value, at) => [value, 1 / (at + 1 + offset)]);

/** An index below `count`, found `1/√rank` as often as the first. */
export function gentlyFirst(random: Random, count: number): number {
  const x = 1 + (Math.sqrt(count + 1) - 1) * random();
  return Math.min(count - 1, Math.floor(x * x) - 1);
}

/** An index below `count`, found `1/rank^0.75` as often as the first. */
export function steeplyFirst(random: Random, count: number): number {
  const x = 1 + (Math.sqrt(Math.sqrt(count + 1)) - 1) * random();
  return Math.min(count - 1, Math.floor(x * x * x * x) - 1);
}

/** A log-normal value: half lie above `median`; `spread` is the deviation of its logarithm. */
export function logNormal(random: Random, median: number, spread: number): number {
  const sum = random() + random() + random() + random() + random() + random();
  return median * Math.exp(spread * (sum - 3) * Math.SQRT2);
}

/**
 * A copy that takes no more memory than its values. The first value pushed to an empty array makes room for 17
 * (V8), which adds up over the hundred thousand lists that stay.
 */
export const trimmed = <T>(list: readonly T[]): T[] => list.slice();
