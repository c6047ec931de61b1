/** Knows how tables name their columns, and how they write the words of closed lists and cells that say nothing. */
import { fold } from "#records/fold.ts";
import type { RecordKind } from "#records/kinds.ts";
import { comparable } from "./cells.ts";
import { wordKey } from "./compile-mapping.ts";
import words from "./headings.json" with { type: "json" };
import { type Field, fieldsOf } from "./mapping.ts";

/** Folded headings by kind and field, besides the name of the field itself. `gps` has names of GPs. */
const headings: Readonly<Record<RecordKind, Readonly<Record<string, string>>>> = words.headings;

const fieldOfHeading = new Map(
  (Object.keys(headings) as RecordKind[]).map((kind) => {
    const own = Array.from(fieldsOf(kind), ([path]) => [fold(path), path] as const);
    const others = Object.entries(headings[kind]).flatMap(([path, list]) =>
      list.split(", ").map((heading) => [heading, path] as const),
    );
    return [kind, new Map([...own, ...others])];
  }),
);

/** Text in parentheses that names a unit, as in `Budget ($000)`. Any other may narrow what the column holds. */
const unit = /\((?:in )?(?:[$€\d,.\s]|us|usd|eur|k|m|mm|mio|thousands?|millions?|sf|sq ?ft)+\)/gi;

/** Returns the path of the field that a column's name means in a table of a kind. Knows `entityName` by its words. */
export function fieldNamed(kind: RecordKind, heading: string): string | undefined {
  const words = heading.replace(unit, " ").replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2");
  return fieldOfHeading.get(kind)!.get(fold(words));
}

const wordOfSpelling = new Map(
  Object.entries(words.spellings).flatMap(([word, others]) =>
    others.split(", ").map((other) => [wordKey(other), word] as const),
  ),
);

/** Returns the word of a closed list that a cell means in other words, or undefined. */
export function meaningOf(cell: string, { choices }: Field): string | undefined {
  const word = wordOfSpelling.get(wordKey(cell));
  return word !== undefined && choices.includes(word) ? word : undefined;
}

const silent = new Set(
  "n/a, na, n.a., #n/a, tbd, tba, none, null, nan, unknown, not available, not applicable, -, --, –, —, ?, k.a., unbekannt".split(
    ", ",
  ),
);

/** Reports whether a cell is one of the words that stand where nothing is known. */
export const saysNothing = (cell: string): boolean => silent.has(comparable(cell));
