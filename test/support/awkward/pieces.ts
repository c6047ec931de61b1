/** Pieces of a text, and texts that are nearly the same. */
import type { Random } from "./random.ts";

/** What stands between spaces and hyphens; the text itself where that is nothing. */
export function pieces(text: string): string[] {
  const found = text.split(/[ ,-]+/).filter((piece) => piece !== "");
  return found.length > 0 ? found : [text];
}

/** So many code points in a row at most, from anywhere in the text. */
export function part(random: Random, text: string, lengthMax: number): string {
  const points = Array.from(text);
  const start = random.below(points.length);
  return points.slice(start, start + 1 + random.below(lengthMax)).join("");
}

/** The text with one code point lost, doubled, replaced or changed with its neighbour. */
export function misspelt(random: Random, text: string): string {
  const points = Array.from(text);
  const at = random.below(points.length);
  const [point = "", next = ""] = points.slice(at, at + 2);
  const [replaced, by] = random.pick([
    [1, [] as string[]],
    [1, [point, point]],
    [1, [random.pick(["e", "x", "ß", "三"])]],
    [2, [next, point]],
  ] as const);
  return points.toSpliced(at, replaced, ...by).join("");
}
