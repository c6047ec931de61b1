/** Random choices that are the same for the same seed, on any machine. */

export interface Random {
  /** A whole number from 0 to one less than the bound. */
  below(bound: number): number;
  /** A whole number from least to most, both included. */
  between(least: number, most: number): number;
  chance(probability: number): boolean;
  /** One of a list that is not empty. */
  pick<T>(list: readonly T[]): T;
  /** So many different places of the list, in random order; all of them where it is shorter. */
  some<T>(count: number, list: readonly T[]): T[];
}

/** Xorshift with 32 bits of state (Marsaglia 2003); the seed is any whole number. */
export function seededRandom(seed: number): Random {
  let state = Math.imul(seed + 1, 0x9e3779b1) | 0 || 1;
  const fraction = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  const below = (bound: number) => Math.floor(fraction() * bound);
  const some = <T>(count: number, list: readonly T[]) =>
    list
      .map((thing) => ({ thing, place: fraction() }))
      .sort((one, other) => one.place - other.place)
      .slice(0, count)
      .map(({ thing }) => thing);
  for (let warmUp = 0; warmUp < 8; warmUp += 1) fraction();
  return {
    below,
    between: (least, most) => least + below(most - least + 1),
    chance: (probability) => fraction() < probability,
    pick: <T>(list: readonly T[]) => list[below(list.length)] as T,
    some,
  };
}

/** So many things, each made from its place. */
export function repeat<T>(count: number, make: (at: number) => T): T[] {
  return Array.from({ length: count }, (_, at) => make(at));
}
