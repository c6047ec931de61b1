/** Random numbers that come again with the same seed. */

export interface Random {
  /** A whole number from least to most, both included. */
  between(least: number, most: number): number;
  chance(probability: number): boolean;
  pick<T>(choices: readonly T[]): T;
}

/** Marsaglia's xorshift with 32 bits: no secret comes from it, only variety. */
export function randomFrom(seed: number): Random {
  let state = Math.imul(seed + 1, 0x9e3779b9) | 1;
  const fraction = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  for (let warmUp = 0; warmUp < 8; warmUp++) fraction();
  const between = (least: number, most: number) =>
    least + Math.floor(fraction() * (most - least + 1));
  return {
    between,
    chance: (probability) => fraction() < probability,
    pick: (choices) => choices[between(0, choices.length - 1)]!,
  };
}
