/** Finds the columns a mapping names in the header of a file, by name and never by place. */
import { clean } from "./cells.ts";
import { nearest } from "./nearest.ts";
import { quoted } from "./unreadable.ts";

const oneColumn =
  "the header has a single column, so perhaps the mapping's delimiter is not the file's";

/**
 * The index of each wanted column, or what is wrong with the header.
 * @param header names as decoded; white space around and doubled inside is nobody's intention.
 */
export function locateColumns(
  header: readonly string[],
  wanted: readonly string[],
): { indexes: number[] } | { reason: string } {
  const names = header.map(clean);
  const reasons = wanted.flatMap((column) => {
    const places = names.flatMap((name, at) => (name === column ? [at + 1] : []));
    if (places.length === 0) return [missingWords(column, names)];
    return places.length > 1
      ? [
          `the column ${quoted(column)} stands in the header ${places.length} times, at ${places.join(" and ")}`,
        ]
      : [];
  });
  if (reasons.length > 0 && names.length === 1) reasons.push(oneColumn);
  if (reasons.length > 0) return { reason: reasons.join("; ") };
  return { indexes: wanted.map((column) => names.indexOf(column)) };
}

function missingWords(column: string, names: readonly string[]): string {
  const similar = nearest(column, new Set(names.filter((name) => name !== "")));
  const words = `the column ${quoted(column)} is missing`;
  return similar.length === 0
    ? words
    : `${words}; the nearest are ${similar.map(quoted).join(", ")}`;
}
