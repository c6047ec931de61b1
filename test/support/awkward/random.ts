/** Random choices that are the same for the same seed, on any machine. */

export type Random = ReturnType<typeof seededRandom>;

/** Xorshift with 32 bits of state (Marsaglia 2003); the seed is any whole number. */
export function seededRandom(seed: number) {
  let state = Math.imul(seed + 1, 0x9e3779b1) | 0 || 1;
  const fraction = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  /** A whole number from 0 to one less than the bound. */
  const below = (bound: number) => Math.floor(fraction() * bound);
  /** So many different places of the list, in random order; all of them where it is shorter. */
  const some = <T>(count: number, list: readonly T[]) =>
    list
      .map((thing) => ({ thing, place: fraction() }))
      .sort((one, other) => one.place - other.place)
      .slice(0, count)
      .map(({ thing }) => thing);
  for (let warmUp = 0; warmUp < 8; warmUp += 1) fraction();
  return {
    below,
    /** A whole number from least to most, both included. */
    between: (least: number, most: number) => least + below(most - least + 1),
    chance: (probability: number) => fraction() < probability,
    /** One of a list that is not empty. */
    pick: <T>(list: readonly T[]) => list[below(list.length)] as T,
    some,
  };
}

/** So many things, each made from its place. */
export function repeat<T>(count: number, make: (at: number) => T): T[] {
  return Array.from({ length: count }, (_, at) => make(at));
}
