/** Folds text for comparison: one function for imports and queries, so that both agree. Answers keep the original. */

/** Version of the folding rule, kept with each dataset. A dataset of another version is refused. */
export const foldVersion = 1;

const marks = /\p{M}+/gu;
const lettersOfTheirOwn = /[ßæœøđðłþıħς]/gu;
const deleted = /['’‘ʼ.]+/gu;
const separators = /[^\p{L}\p{N}]+/gu;
const folded = /^[a-z0-9]+(?: [a-z0-9]+)*$/;
const ascii = /^[\x00-\x7f]*$/;
const deletedAscii = /['.]+/g;
/** Runs of separators, except single spaces, which stay as they are. */
const separatorsInAscii = /[^a-z0-9 ][^a-z0-9]*| [^a-z0-9]+/g;

const spellings: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  đ: "d",
  ð: "d",
  ł: "l",
  þ: "th",
  ı: "i",
  ħ: "h",
  ς: "σ",
};

/**
 * Returns the comparable form of text: no accents, no case, no punctuation, single spaces. Folding it again changes
 * nothing. docs/api.md states the rule under "Matching".
 */
export function fold(text: string): string {
  if (folded.test(text)) return text;
  return ascii.test(text) ? foldAscii(text) : foldUnicode(text);
}

/** Folds ASCII text as `foldUnicode` does, but much faster. Most names are ASCII. */
const foldAscii = (text: string) =>
  text.toLowerCase().replace(deletedAscii, "").replace(separatorsInAscii, " ").trim();

// Marks are dropped first, too: to decompose a long run of them takes quadratic time.
const foldUnicode = (text: string) =>
  text
    .replace(marks, "")
    .normalize("NFKD")
    .replace(marks, "")
    .toLowerCase()
    .normalize("NFKD")
    .replace(marks, "")
    .replace(lettersOfTheirOwn, (letter) => spellings[letter] ?? letter)
    .replace(deleted, "")
    .replace(separators, " ")
    .trim();
