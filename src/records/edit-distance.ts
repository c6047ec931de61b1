/** Returns the minimum number of single-character edits between two words (V. I. Levenshtein, 1966). */
export function editDistance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++)
      row[j] = Math.min(
        above[j]! + 1,
        row[j - 1]! + 1,
        above[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1),
      );
    above = row;
  }
  return above[b.length]!;
}

/** Returns the nearest word, or the first of several. Returns undefined if no word is within two edits. */
export function nearest(word: string, words: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestDistance = 3;
  for (const candidate of words) {
    // The difference in length is a lower bound on the distance, so most words need no table.
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue;
    const distance = editDistance(word, candidate);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** Returns what `nearest` finds in a closed list. Ignores case. Reads spaces or hyphens as `_`, except at the start. */
export const nearestValue = (value: string, values: readonly string[]): string | undefined =>
  nearest(value.toLowerCase().replaceAll(/(?<!^)[\s-]+/g, "_"), values);
