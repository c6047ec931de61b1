/** Random choices from a seed: the same seed gives the same choices on every machine. */
import { hash } from "node:crypto";

export type Random = ReturnType<typeof startRandom>;

/**
 * Starts a sequence of choices for one purpose. Draws from one sequence never shift another. The generator is
 * Mulberry32 (T. Ettinger): one word of state, and fast even before it is compiled.
 * @param seed any number; only its lowest 32 bits count.
 */
export function startRandom(seed: number, purpose: string) {
  let state = Number.parseInt(hash("sha256", `${seed | 0} ${purpose}`).slice(0, 8), 16);
  /** Returns the next number, from 0 to just under 1. */
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  const chance = (share: number): boolean => next() < share;
  /** Draws a whole number from `minimum` to `maximum`, both included. */
  const whole = (minimum: number, maximum: number): number =>
    minimum + Math.floor(next() * (maximum - minimum + 1));
  /** Draws a value from a list that is not empty. */
  const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)] as T;
  /** Draws a value from a list that is not empty. Earlier values are more likely, and more so with a greater power. */
  const pickEarly = <T>(list: readonly T[], power = 2): T => {
    const x = 1 + ((list.length + 1) ** (1 / power) - 1) * next();
    return list[Math.min(list.length, Math.floor(x ** power)) - 1] as T;
  };
  /** Draws up to `count` different values from a list. */
  const pickSome = <T>(list: readonly T[], count: number): T[] =>
    list.length === 0 ? [] : drawMore([], count, () => pick(list));
  /** Draws each key with its own probability. Keeps the order of the keys. */
  const pickEach = (shares: Readonly<Record<string, number>>): string[] =>
    Object.keys(shares).filter((key) => chance(shares[key]!));
  /** Draws a nearly log-normal value. Half are above `median`; `spread` is the standard deviation of the logarithm. */
  const logNormal = (median: number, spread: number): number => {
    const sum = next() + next() + next() + next() + next() + next();
    return median * Math.exp(spread * (sum - 3) * Math.SQRT2);
  };
  return { next, chance, whole, pick, pickEarly, pickSome, pickEach, logNormal };
}

/** Returns the given values and up to `count` others; fewer if a draw repeats one. */
export function drawMore<T>(given: readonly T[], count: number, draw: () => T): T[] {
  const values = new Set(given);
  for (let at = 0; at < count; at++) values.add(draw());
  return [...values];
}

/** Returns a function that draws values by weight. */
export function weighted<T>(entries: readonly (readonly [T, number])[]): (random: Random) => T {
  const total = entries.reduce((sum, [, weight]) => sum + weight, 0);
  return ({ next }) => {
    let mark = next() * total;
    return (entries.find(([, weight]) => (mark -= weight) < 0) ?? entries[0]!)[0];
  };
}

/** Returns a function that draws an object's keys by weight. */
export const weightedKeys = <K extends string>(
  weights: Readonly<Record<K, number>>,
): ((random: Random) => K) => weighted(Object.entries(weights) as [K, number][]);
