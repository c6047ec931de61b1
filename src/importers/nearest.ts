/** Finds the names most similar to an unknown one, for messages. */
import { fold } from "#records/fold.ts";
import { quoted } from "./import-fault.ts";

const likenessMin = 0.5;
const suggestionsMax = 3;

/** Returns up to 3 similar names, the best first, by the Dice coefficient of their folded trigrams and letters. */
export function nearest(wanted: string, names: Iterable<string>): string[] {
  const sought = gramsOf(wanted);
  return Array.from(names, (name) => {
    const grams = gramsOf(name);
    const shared = sought.intersection(grams).size;
    return { name, likeness: (2 * shared) / (sought.size + grams.size) };
  })
    .filter(({ likeness }) => likeness >= likenessMin)
    .sort((a, b) => b.likeness - a.likeness)
    .slice(0, suggestionsMax)
    .map(({ name }) => name);
}

/** Maximum number of texts for which a finder seeks the nearest name. An import lists no more faults than that. */
const soughtMax = 1000;

/** Maximum length of a text for which a finder seeks the nearest name, in characters. */
const soughtLengthMax = 100;

/** Returns a function that finds the most similar name. It returns undefined if none is similar, or past a limit. */
export function nearestFinder(names: readonly string[]): (text: string) => string | undefined {
  const found = new Map<string, string | undefined>();
  return (text) => {
    if (names.length === 0 || text.length > soughtLengthMax) return undefined;
    if (found.has(text) || found.size === soughtMax) return found.get(text);
    const [name] = nearest(text, names);
    found.set(text, name);
    return name;
  };
}

/** Returns the end of a sentence that names the most similar name; "" if there is none. */
export const nearestWords = (name: string | undefined): string =>
  name === undefined ? "" : `; the closest match is ${quoted(name)}`;

/** Returns trigrams, and letters numbered by occurrence, which tolerate transpositions. */
function gramsOf(text: string): Set<string> {
  const folded = fold(text);
  const padded = `  ${folded} `;
  const grams = new Set<string>();
  for (let at = 0; at + 3 <= padded.length; at++) grams.add(padded.slice(at, at + 3));
  const counts = new Map<string, number>();
  for (const letter of folded.replaceAll(" ", "")) {
    counts.set(letter, (counts.get(letter) ?? 0) + 1);
    grams.add(`${letter}${counts.get(letter)}`);
  }
  return grams;
}
