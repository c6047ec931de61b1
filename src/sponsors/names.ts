/** Reads names: the base name and stem of a firm, what a name says about its bearer, and which firms serve others. */
import { hash } from "node:crypto";
import { editDistance } from "#records/edit-distance.ts";
import { fold } from "#records/fold.ts";
import { isLegalForm, withoutForm } from "#records/legal-forms.ts";
import type { AdviserOwner, RelatedPerson } from "#filings/rows.ts";
import firms from "./known-firms.json" with { type: "json" };
import respellings from "./respellings.json" with { type: "json" };
import lists from "./words.json" with { type: "json" };

type List = keyof typeof lists;

const setsOf: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(lists).map(([list, { words }]) => [list, new Set(words)]),
);

export const wordsOf = (list: List): readonly string[] => lists[list].words;

/** Reports whether a folded word is in a list of `words.json`. */
export const isWordOf = (list: List, word: string): boolean => setsOf.get(list)!.has(word);

const generic = ["vehicle", "trade", "business", "assets", "properties", "idle"] as const;
const numeral =
  /^(?:!|\d+ ?[a-z]?|iii?[a-d]|(?:(?!$)x{0,3}(?:ix|iv|v?i{0,3})|(?=\w{4})c{0,3}(?:xc|xl|lx{0,3})(?:ix|iv|v?i{0,3}))(?<!^)(?: [a-z])?)$/;

/** Pattern of names that may contain a spelling in `respelled`. Most do not, so this test saves time. */
const mayBeRespelled =
  /[(./&]|\b(?:series of|limited|general|managing|trust|dba|co-? ?invest|l l c|l p)/i;

/** Replacements for spellings that would hide a form or role when a name is read word by word. */
const respelled = respellings.patterns.map(
  ([pattern, flags, short]) => [new RegExp(pattern!, flags), short!] as const,
);

type Token = ReturnType<typeof tokensOf>[number];

function tokensOf(name: string) {
  const text = mayBeRespelled.test(name)
    ? respelled.reduce((all, [pattern, short]) => all.replace(pattern, short), name)
    : name;
  return text
    .split(/[\s,;]+/)
    .filter(Boolean)
    .map((part) => ({ text: part, word: part === "!" ? part : fold(part) }));
}

const isForm = (word: string) => isLegalForm(word) || isWordOf("forms", word);
const isPlainRole = (word: string) => isWordOf("vehicle", word) || numeral.test(word);
const isRole = (word: string) =>
  isPlainRole(word) || isWordOf("trade", word) || word.split(" ").every(isPlainRole);
const isDistinctive = ({ word }: Token) =>
  !generic.some((list) => isWordOf(list, word)) && !isForm(word) && !/^[a-z]?$/.test(word);

/** Results of `readCore` by name. Each is needed several times while its filing is judged. */
const cores = new Map<string, ReturnType<typeof readCore>>();
const coresMax = 200;

const coreOf = (name: string) =>
  cores.getOrInsertComputed(name, () => {
    if (cores.size >= coresMax) cores.clear();
    return readCore(name);
  });

/** Cuts forms, `and` and `of` from a name's end. Also cuts numerals and role words if a distinctive word is left. */
function readCore(name: string) {
  const kept = tokensOf(name);
  const words = kept.flatMap(({ word }) => word || []);
  const cut: Token[] = [];
  while (kept.length > 1) {
    const { word } = kept.at(-1)!;
    const isIdle = word === "" || word === "and" || word === "of" || isForm(word);
    if (!isIdle && !(isRole(word) && kept.slice(0, -1).some(isDistinctive))) break;
    cut.unshift(kept.pop()!);
  }
  return { words, kept, cut, stem: fold(textOf(kept)) };
}

const wordsIn = (name: string) => coreOf(name).words;
const coreWords = (name: string) => coreOf(name).kept.map(({ word }) => word);
const textOf = (tokens: readonly Token[]) => tokens.map(({ text }) => text).join(" ");

/**
 * Returns the stem of a firm's name, folded. Leaves out text in parentheses, what follows `series of` or `dba`, and any
 * legal form, numerals and role words at the end. Names of one firm and of its vehicles usually have equal stems.
 */
export const stemOf = (name: string): string => coreOf(name).stem;

/**
 * Returns the firm's name from a vehicle's or firm's full name, capitalised by `readable`. A stem of one word keeps the
 * trade word that follows, since `Golden` alone would identify nobody.
 */
export function baseName(name: string): string {
  const { kept, cut } = coreOf(name);
  const isShort = kept.length === 1 && cut[0] && isWordOf("trade", cut[0].word);
  return readable(textOf(isShort ? [...kept, cut[0]!] : kept), name);
}

/** Returns the distinctive words of a name, without forms, roles, trades, kinds of property and final numerals. */
export const ownWords = (name: string): string[] =>
  coreOf(name)
    .kept.filter(isDistinctive)
    .map(({ word }) => word.replaceAll(" ", ""));

/** Shortens a key to at most 180 characters, so that an id of 200 has room for a suffix. A cut key ends in a hash. */
export const shortKey = (key: string): string =>
  key.length <= 180
    ? key
    : `${key.slice(0, 140).toWellFormed()} ${hash("sha256", key, "hex").slice(0, 32)}`;

/**
 * Returns a name in mixed case, with numerals and acronyms in upper case. Changes only the spaces if it has mixed case.
 * @param whole name that `name` is part of; its case decides.
 */
export function readable(name: string, whole = name): string {
  const text = name.replace(/\s+/g, " ").trim();
  if (whole !== whole.toUpperCase() && whole !== whole.toLowerCase()) return text;
  const words = text.split(" ");
  return words
    .map((word, i) =>
      word.replace(/[\p{L}\p{N}&'’.]+/gu, (part) => capitalise(part, i, words.length)),
    )
    .join(" ");
}

function capitalise(part: string, index: number, count: number): string {
  const word = fold(part);
  const upper = part.toUpperCase();
  if (isWordOf("idle", word) && index > 0) return part.toLowerCase();
  const isShort = word.length <= 4 && count === 1;
  const hasNoVowel = /^[^aeiouy]{1,4}$/.test(word) && !isForm(word) && !isWordOf("streets", word);
  if (/^\d+(?:st|nd|rd|th)$/.test(word)) return part.toLowerCase();
  if (isWordOf("acronyms", word) || hasNoVowel || isShort || /[&\d]/.test(part)) return upper;
  if (numeral.test(word)) return upper;
  const small = part.toLowerCase();
  if (/^mc[b-df-hj-np-tv-z]/.test(small)) return `Mc${small[2]!.toUpperCase()}${small.slice(3)}`;
  return small.replace(/^\P{L}*\p{L}/u, (first) => first.toUpperCase());
}

const isStrongForm = (word: string) => isForm(word) && !isWordOf("weakForms", word);

/** Reports whether a name of several words ends in a legal form that is not also a surname. */
export function hasForm(name: string): boolean {
  const words = wordsIn(name);
  return words.length > 1 && isStrongForm(words.at(-1)!);
}

/** Reports whether a text of several words ends in a legal form, or in another word that ends firms' names. */
export function isFirmLike(text: string): boolean {
  const words = wordsIn(text);
  const last = words.at(-1)!;
  const lists = ["business", "trade", "vehicle"] as const;
  return words.length > 1 && (isForm(last) || lists.some((list) => isWordOf(list, last)));
}

const isBlank = (part: string | null) => part === null || isWordOf("placeholders", fold(part));

/** Returns the full name of a related person that is an entity. Returns null for a natural person. */
export function entityOf({ first, middle, last }: RelatedPerson): string | null {
  const rest = [first, middle].filter((part) => !isBlank(part)) as string[];
  if (last === null || isBlank(last))
    return rest.length > 0 && isFirmLike(rest.join(" ")) ? rest.join(" ") : null;
  // `Na` is also a first name, and a person's first-name field may hold a role.
  const isNamed = (first === "Na" && !last.includes(" ")) || isWordOf("self", fold(first ?? ""));
  const isPlaceheld = first !== null && !isNamed;
  if (rest.length === 0) return isPlaceheld || isFirmLike(last) ? last : null;
  const [before, whole] = [rest.join(" "), [...rest, last].join(" ")];
  if (isSuffix(last)) return whole;
  if (isSuffix(before)) return `${last} ${before}`;
  const words = wordsIn(last);
  const isFirm = isFirmLike(last) && !(words.length === 2 && isWordOf("weakForms", words[1]!));
  if (fold(before) === fold(last)) return isFirm || words.length > 1 ? last : null;
  return !isFirm ? null : isFirmLike(before) ? last : whole;
}

/** Reports whether a field holds nothing but a legal form, such as `LLC` or `GP, LLC`. */
function isSuffix(part: string): boolean {
  const words = wordsIn(part);
  return words.some(isStrongForm) && words.every((word) => isForm(word) || word === "gp");
}

/** Reports whether a name is an address, such as `1577 Pomeroy`. `12th Street Capital` is a firm. */
export function isAddressLike(name: string): boolean {
  const words = coreWords(name);
  if (!/^\d+(?:st|nd|rd|th)?$/.test(words[0] ?? "") || words.length < 2) return false;
  const hasStreet = namesStreet(name);
  const isFirm = words.some((word) => isWordOf("business", word));
  return /^\d+$/.test(words[0]!) ? hasStreet || !isFirm : hasStreet && !isFirm;
}

export const namesStreet = (name: string): boolean =>
  coreWords(name).some((word) => isWordOf("streets", word));

/** Returns a name folded and without its legal form, so that most spellings of one firm's name are equal. */
export const firmKey = (name: string): string => {
  const words = [...wordsIn(name)];
  while (words.length > 1 && isForm(words.at(-1)!)) words.pop();
  return words.join(" ");
};

/** Returns a name without its legal form, capitalised by `readable`. */
export function shortName(name: string): string {
  const words = name.split(/\s+/);
  while (words.length > 1 && firmKey(words.slice(0, -1).join(" ")) === firmKey(name)) words.pop();
  return readable(words.join(" ").replace(/[\s,]+$/, ""), name);
}

/**
 * Reports whether a firm exists for one deal alone, judged by its name: an address, a mere description, or the issuer's
 * own words with a role. A firm with the first words of the issuer's name is a brand. So is the namesake of a fund,
 * unless the name is that of a property or a region.
 */
export function isDealOnly(firm: string, issuer: string, isFund: boolean): boolean {
  const [own, theirs] = [ownWords(firm), ownWords(issuer)];
  if (own.length === 0 || isAddressLike(firm)) return true;
  const isIn = (word: string, words: readonly string[]) =>
    words.some((other) => isAlike(word, other));
  const shared = own.filter((word) => isIn(word, theirs));
  if (shared.length === 0) return false;
  const [words, issuerWords] = [coreWords(firm), coreWords(issuer)];
  const isTrading = words.some((word) => isWordOf("business", word) && !issuerWords.includes(word));
  const isWhole = theirs.every((word) => isIn(word, own));
  if (isWhole && isFund)
    return (
      own.length === theirs.length &&
      (words.some((word) => isWordOf("properties", word)) ||
        own.every((word) => isWordOf("places", word)))
    );
  if (isWhole) return theirs.length > 1 || (own.length === 1 && !isTrading);
  if (isTrading) return false;
  return shared.length < own.length
    ? shared.some((word) => !isAlike(word, theirs[0]!))
    : !isAlike(own[0]!, theirs[0]!);
}

/** Reports whether two words are equal, or both have at least five letters and differ by one typing error. */
export const isAlike = (a: string, b: string) =>
  a === b ||
  (Math.min(a.length, b.length) >= 5 &&
    Math.abs(a.length - b.length) < 2 &&
    editDistance(a, b) < 2);

/** Returns the parts of an owner's `LAST, FIRST, MIDDLE`. A fourth part, such as `JR`, goes with the last name. */
export function ownerName({ name }: AdviserOwner) {
  const [last = "", first = "", middle = "", ...more] = name.split(",").map((part) => part.trim());
  return { first, middle, last: [last, ...more].filter(Boolean).join(" ") };
}

/** Returns a key that most spellings of a person's name share: the folded first given name and last name. */
export const personKey = ({ first, last }: Pick<RelatedPerson, "first" | "last">): string =>
  `${fold(first ?? "").split(" ")[0]} ${fold(last ?? "")}`;

/**
 * Returns a value with the most frequent spelling. Among equals, takes the longest, then the first in sort order.
 * @param values at least one.
 */
export function mostFrequent<T>(values: readonly T[], spell: (value: T) => string = String) {
  const spelled = [...Map.groupBy(values, spell)].sort(
    ([a, some], [b, others]) =>
      others.length - some.length || b.length - a.length || (a < b ? -1 : 1),
  );
  return spelled[0]![1][0]!;
}

/** Returns the firm that an issuer is a series of, by its name. Returns null if it is not a series. */
export function seriesMaster(name: string): string | null {
  const [, ...after] = name.split(/\bseries of\s+(?:the\s+)?/i);
  return after.at(-1)?.trim() || null;
}

type Profession = keyof typeof firms;

const listedName = (name: string) => withoutForm(fold(name)).replace(/^the /, "");

const professionOf = new Map(
  Object.entries(firms).flatMap(([profession, entries]) =>
    entries.map(({ name }) => [listedName(name), profession as Profession] as const),
  ),
);

/**
 * Returns the profession of a firm that serves others, or null. Any words may follow a listed name of several words.
 * Only words for services may follow a listed name of one word: `Vista Homes` is not `Vista`.
 */
export function professionIn(name: string): Profession | null {
  const words = listedName(name).split(" ");
  for (let count = words.length; count > 0; count--) {
    const profession = professionOf.get(words.slice(0, count).join(" "));
    if (profession && (count > 1 || words.slice(1).every((word) => isWordOf("service", word))))
      return profession;
  }
  return null;
}
