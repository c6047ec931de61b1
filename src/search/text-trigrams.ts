/** Runs of three letters in a folded text with a space at either end, as numbers whose digits are places in an alphabet. */

const space = 0x20;

/** Code points that occur, and the space; ascending. */
export function alphabetOf(texts: readonly string[]): Uint32Array {
  const letters = new Set<number>([space]);
  for (const text of texts)
    for (let at = 0; at < text.length; at++) {
      const letter = text.codePointAt(at)!;
      if (letter > 0xffff) at++;
      letters.add(letter);
    }
  return Uint32Array.from(letters).sort();
}

/** Code point → digit. */
export const digitsOf = (alphabet: ArrayLike<number>) =>
  new Map(Array.from(alphabet, (codePoint, digit) => [codePoint, digit]));

/**
 * In the order of the text, some more than once.
 * @param folded all of its letters are in the alphabet.
 */
export function trigramsIn(folded: string, digitOf: ReadonlyMap<number, number>): number[] {
  const base = digitOf.size;
  const ofSpace = digitOf.get(space)!;
  const trigrams: number[] = [];
  let [before, last] = [-1, ofSpace];
  for (let at = 0; at <= folded.length; at++) {
    const letter = folded.codePointAt(at) ?? space;
    if (letter > 0xffff) at++;
    const digit = digitOf.get(letter)!;
    if (before !== -1) trigrams.push((before * base + last) * base + digit);
    [before, last] = [last, digit];
  }
  return trigrams;
}

/** Each once: as a number, or as it is where a letter of it is outside the alphabet. */
export function differentTrigrams(
  folded: string,
  digitOf: ReadonlyMap<number, number>,
): Set<number | string> {
  const base = digitOf.size;
  const letters = [...` ${folded} `];
  const trigrams = new Set<number | string>();
  for (let i = 0; i + 2 < letters.length; i++) {
    const [a, b, c] = [0, 1, 2].map((next) => digitOf.get(letters[i + next]!.codePointAt(0)!));
    const isKnown = a !== undefined && b !== undefined && c !== undefined;
    trigrams.add(isKnown ? (a * base + b) * base + c : letters.slice(i, i + 3).join(""));
  }
  return trigrams;
}
