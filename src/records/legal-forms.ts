/** Recognises legal forms in names of firms, such as `LLC`, and removes them. */

/** Legal forms in their standard spelling. */
const ownForms = "llc lp llp lllp inc corp co ltd plc gmbh kg ag sa sarl bv nv pte pty".split(" ");
/** Forms of one word, as folded text, each with its standard spelling. */
const formOf: Readonly<Record<string, string>> = {
  ...Object.fromEntries(ownForms.map((form) => [form, form])),
  lc: "llc",
  pllc: "llc",
  incorporated: "inc",
  corporation: "corp",
  company: "co",
  limited: "ltd",
};

/** Forms of several words, as folded text, each with its standard spelling. */
const written: readonly (readonly [RegExp, string])[] = [
  [/ (?:limited liability company|l l c)\b/g, " llc"],
  [/ (?:limited liability partnership|l l p)\b/g, " llp"],
  [/ (?:limited partnership|l p)\b/g, " lp"],
];

/** Words that people add to names or leave out. */
const idle = new Set(["the", "and"]);

/** A folded name in two parts: `core` without `the`, `and` and the forms at its end; `form` with these forms, or "". */
export interface NameParts {
  core: string;
  form: string;
}

/** Splits a folded name. Its first word is never taken as a form. A core of only `the` and `and` keeps them. */
export function splitName(folded: string): NameParts {
  const { words, forms } = splitWords(folded);
  const core = words.filter((word) => !idle.has(word));
  return { core: (core.length > 0 ? core : words).join(" "), form: forms.join(" ") };
}

export const isLegalForm = (word: string): boolean => Object.hasOwn(formOf, word);

/** Returns a folded name without the legal forms at its end. The first word always stays. */
export const withoutForm = (folded: string): string => splitWords(folded).words.join(" ");

function splitWords(folded: string): { words: string[]; forms: string[] } {
  const text = written.reduce((name, [long, short]) => name.replace(long, short), folded);
  const words = text.split(" ");
  const forms: string[] = [];
  while (words.length > 1 && isLegalForm(words.at(-1)!)) forms.unshift(formOf[words.pop()!]!);
  return { words, forms };
}
