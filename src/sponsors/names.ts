/** Names of firms in filings: the base name, its stem, and what a name says of itself. */
import { editDistance } from "#records/edit-distance.ts";
import { fold } from "#records/fold.ts";
import { isLegalForm } from "#records/legal-forms.ts";
import type { RelatedPerson } from "#filings/rows.ts";
import lists from "./words.json" with { type: "json" };

const setOf = (...names: readonly (keyof typeof lists)[]) =>
  new Set(names.flatMap((name) => lists[name].words));

const forms = setOf("forms");
const vehicleWords = setOf("vehicle");
const tradeWords = setOf("trade");
const businessWords = setOf("business");
const propertyWords = setOf("properties");
const streetWords = setOf("streets");
const idleWords = setOf("idle");
const placeholders = setOf("placeholders");
const acronyms = setOf("acronyms");
const genericWords = setOf("vehicle", "trade", "business", "assets", "properties", "idle");
/** Forms that are surnames too, so that alone in a field they prove nothing. */
const weakForms = new Set([
  "co",
  "sa",
  "ag",
  "kg",
  "bv",
  "nv",
  "lc",
  "spa",
  "oy",
  "company",
  "limited",
  "trust",
]);

const numeral = /^(?:!|(?:x{0,3}(?:ix|iv|v?i{0,3}))(?<!^)|\d+)(?: ?[a-z])?$/;
const seriesMark = /\bseries of\s+(?:the\s+)?/i;

/** Spellings that would hide a form or a role from a reading word by word. */
const respelled: readonly (readonly [RegExp, string])[] = [
  [/\([^)]*\)?/g, " "],
  [/\s+(?:d\/b\/a|dba|f\/k\/a|a\/k\/a)\s.*$/i, ""],
  [/(?<=\S)[\s,–-]+(?:(?:an?|each a)\s+)?(?:\w+\s+)?series of\b.*$/i, ""],
  [/\blimited liability company\b/gi, "LLC"],
  [/\blimited liability partnership\b/gi, "LLP"],
  [/\blimited partnership\b/gi, "LP"],
  [/\breal estate investment trust\b/gi, "REIT"],
  [/\bdelaware statutory trust\b/gi, "DST"],
  [/\bL\. ?L\. ?C\b\.?|\bL L C\b/gi, "LLC"],
  [/\bL\. ?P\b\.?|\bL P\b/gi, "LP"],
  [/\bS\.? ?[àa]\.? ?r\.? ?l\b\.?/gi, "Sarl"],
  [/\bgeneral partner\b/gi, "GP"],
  [/\bmanaging (?:member|partner)\b/gi, "MM"],
  [/\bco-? invest/gi, "Co-Invest"],
  [/(?<=^|\s)(\w) & (\w)(?=\s|$)/g, "$1&$2"],
];

interface Token {
  text: string;
  word: string;
}

function tokensOf(name: string): Token[] {
  const text = respelled.reduce((all, [pattern, short]) => all.replace(pattern, short), name);
  return text
    .split(/[\s,;]+/)
    .filter(Boolean)
    .map((part) => ({ text: part, word: part === "!" ? part : fold(part) }));
}

const isRole = (word: string) =>
  vehicleWords.has(word) ||
  numeral.test(word) ||
  word.split(" ").every((part) => vehicleWords.has(part) || numeral.test(part));
const isForm = (word: string) => isLegalForm(word) || forms.has(word);
const isDistinctive = ({ word }: Token) =>
  word !== "" && !genericWords.has(word) && !isForm(word) && !/^[a-z]$/.test(word);

/** Cuts forms, numerals and role words from the end, as long as a word of the firm's own is left. */
function coreOf(name: string): { kept: Token[]; cut: Token[] } {
  const kept = tokensOf(name);
  const cut: Token[] = [];
  for (;;) {
    const last = kept.at(-1);
    if (!last || kept.length === 1) break;
    const isIdle = last.word === "" || last.word === "and" || last.word === "of";
    if (!isIdle && !isForm(last.word)) {
      if (!tradeWords.has(last.word) && !isRole(last.word)) break;
      if (!kept.slice(0, -1).some(isDistinctive)) break;
    }
    cut.unshift(kept.pop()!);
  }
  return { kept, cut };
}

/**
 * Returns the stem of a firm's name, folded: without parentheses, series, legal form, numerals and role words. Names of
 * one firm and of its vehicles have equal stems.
 */
export const stemOf = (name: string): string =>
  fold(
    coreOf(name)
      .kept.map(({ text }) => text)
      .join(" "),
  );

/**
 * Returns the name of the firm in a vehicle's or a firm's name, with readable capitals. A stem of one word keeps the
 * trade word that follows, since `Golden` alone would name nobody.
 */
export function baseName(name: string): string {
  const { kept, cut } = coreOf(name);
  const trade = cut[0];
  const words = kept.length === 1 && trade && tradeWords.has(trade.word) ? [...kept, trade] : kept;
  return readable(words.map(({ text }) => text).join(" "), name);
}

/** Returns the words of a name that are its own: no form, role, trade, kind of property or numeral at the end. */
export const ownWords = (name: string): string[] =>
  coreOf(name)
    .kept.filter(isDistinctive)
    .map(({ word }) => word.replaceAll(" ", ""));

/**
 * Returns a name in mixed case if it is all capitals or all small letters. Numerals and acronyms keep their capitals.
 * @param whole the name that `name` is part of, whose letters tell
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
  if (idleWords.has(word) && index > 0) return part.toLowerCase();
  const isShort = word.length <= 4 && count === 1;
  const hasNoVowel = /^[^aeiouy]{1,4}$/.test(word) && !isForm(word) && !streetWords.has(word);
  if (/^\d+(?:st|nd|rd|th)$/.test(word)) return part.toLowerCase();
  if (acronyms.has(word) || hasNoVowel || isShort || part.includes("&") || numeral.test(word))
    return upper;
  if (/\d/.test(word)) return upper;
  const small = part.toLowerCase();
  if (/^mc[b-df-hj-np-tv-z]/.test(small)) return `Mc${small[2]!.toUpperCase()}${small.slice(3)}`;
  return small.replace(/^\P{L}*\p{L}/u, (first) => first.toUpperCase());
}

/** Reports whether a text ends in a legal form, or in a word that ends names of firms alone. */
export function isFirmLike(text: string): boolean {
  const tokens = tokensOf(text).filter(({ word }) => word !== "");
  const last = tokens.at(-1)?.word ?? "";
  if (tokens.length < 2) return false;
  return isForm(last) || businessWords.has(last) || tradeWords.has(last) || vehicleWords.has(last);
}

const isBlank = (part: string | null) => part === null || placeholders.has(fold(part));

/** Returns the name of a related person that is an entity, put together again. Returns null for a person. */
export function entityOf({ first, middle, last }: RelatedPerson): string | null {
  const rest = [first, middle].filter((part) => !isBlank(part)) as string[];
  if (last === null || isBlank(last))
    return rest.length > 0 && isFirmLike(rest.join(" ")) ? rest.join(" ") : null;
  if (rest.length === 0) return first !== null || isFirmLike(last) ? last : null;
  const [before, whole] = [rest.join(" "), [...rest, last].join(" ")];
  if (isSuffix(last)) return whole;
  if (isSuffix(before))
    return `${last.replace(/,$/, "")}${last.endsWith(",") ? "," : ""} ${before}`;
  const isFirm =
    isFirmLike(last) && !(tokensOf(last).length === 2 && weakForms.has(tokensOf(last)[1]!.word));
  if (fold(before) === fold(last)) return isFirm || fold(last).includes(" ") ? last : null;
  if (isFirm) return isFirmLike(before) ? last : whole;
  const lastWord = tokensOf(last).at(-1)?.word ?? "";
  return isForm(lastWord) && !weakForms.has(lastWord) ? whole : null;
}

/** Reports whether a field holds nothing but a legal form, such as `LLC` or `GP, LLC`. */
function isSuffix(part: string): boolean {
  const words = tokensOf(part).map(({ word }) => word);
  return (
    words.some((word) => isForm(word) && !weakForms.has(word)) &&
    words.every((word) => isForm(word) || word === "gp")
  );
}

/** Reports whether a name is that of an address, such as `1577 Pomeroy`. `12th Street Capital` is a firm's. */
export function isAddressLike(name: string): boolean {
  const words = coreOf(name).kept.map(({ word }) => word);
  if (!/^\d+(?:st|nd|rd|th)?$/.test(words[0] ?? "") || words.length < 2) return false;
  const hasStreet = words.some((word) => streetWords.has(word));
  const isFirm = words.some((word) => businessWords.has(word));
  return /^\d+$/.test(words[0]!) ? hasStreet || !isFirm : hasStreet && !isFirm;
}

/**
 * Reports whether a firm exists for one deal alone, judged by its name: an address, a mere description, or the issuer's
 * own words with a role. A firm named by the first words of the issuer's name is a brand. So is the namesake of a fund,
 * unless the name is that of a property.
 */
export function isDealOnly(firm: string, issuer: string, isFund: boolean): boolean {
  const [own, theirs] = [ownWords(firm), ownWords(issuer)];
  if (own.length === 0 || isAddressLike(firm)) return true;
  const isIn = (word: string, words: readonly string[]) =>
    words.some((other) => isAlike(word, other));
  const shared = own.filter((word) => isIn(word, theirs));
  if (shared.length === 0) return false;
  const kept = coreOf(firm).kept.map(({ word }) => word);
  const issuerWords = coreOf(issuer).kept.map(({ word }) => word);
  const isTrading = kept.some((word) => businessWords.has(word) && !issuerWords.includes(word));
  const isWhole = theirs.every((word) => isIn(word, own));
  if (isWhole && isFund)
    return own.length === theirs.length && kept.some((word) => propertyWords.has(word));
  if (isWhole) return theirs.length > 1 || !isTrading;
  if (isTrading) return false;
  return shared.length < own.length
    ? shared.some((word) => !isAlike(word, theirs[0]!))
    : !isAlike(own[0]!, theirs[0]!);
}

/** Reports whether two words are equal but for one typing error in a word of five letters or more. */
const isAlike = (a: string, b: string) =>
  a === b ||
  (Math.min(a.length, b.length) >= 5 &&
    Math.abs(a.length - b.length) < 2 &&
    editDistance(a, b) < 2);

/** Returns the firm whose series an issuer is, as its name says. */
export function seriesMaster(name: string): string | null {
  const [, ...after] = name.split(seriesMark);
  return after.at(-1)?.trim() || null;
}
