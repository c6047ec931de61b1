/** Finds the name most similar to an unknown one, for messages. */
import { fold } from "#records/fold.ts";
import { nearest } from "#records/nearest.ts";
import { quoted } from "./import-fault.ts";

/** Maximum number of texts to find the nearest name for. A report lists no more faults. */
const soughtMax = 1000;

/** Maximum length of such a text, in characters. */
const soughtLengthMax = 100;

/** Returns a function that says which of `names` is most similar to a text. Its text is empty if none is. */
export function nearestFinder(names: readonly string[]): (text: string) => string {
  const nameOf = new Map(names.map((name) => [fold(name), name]));
  nameOf.delete("");
  const folded = [...nameOf.keys()];
  const found = new Map<string, string>();
  return (text) => {
    if (text.length > soughtLengthMax) return "";
    const known = found.get(text);
    if (known !== undefined || found.size === soughtMax) return known ?? "";
    const name = nearest(fold(text), folded);
    const words = name === undefined ? "" : `; the nearest is ${quoted(nameOf.get(name)!)}`;
    found.set(text, words);
    return words;
  };
}
