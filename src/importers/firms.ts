/** Finds the firms that a cell names, as in award lists. docs/importing.md has the rules. */
import { fold } from "#records/fold.ts";
import { splitName } from "#records/legal-forms.ts";

/** Text in brackets, with at most one more level of brackets in it. */
const brackets = /\s*[([](?:[^()[\]]|[([][^()[\]]*[)\]])*(?:[)\]]|$)/g;

/** Separators of firms. A slash needs a space beside it or three letters on each side, unlike in `c/o` and `24/7`. */
const between = /[;|\r\n]+|\s+w?\/\s*|\/\s+|(?<=\p{L}{3})\/(?=\p{L}{3})/u;
/** Words and marks that separate firms only after a legal form. */
const joints = /\s*,\s*(?:(?:and|&)\s+)?|\s+(?:and|&|\+)\s+/gi;
/** Words that continue a name after a joint, as in `Smith Co. & Sons`. */
const goingOn =
  /^(?:an?|sons?|daughters?|brothers|associates|affiliates|partners|its|co|company)\b/i;

const roles = String.raw`(?:(?:co|lead|managing|master)[ -]?)?(?:developer|sponsor|owner|applicant|general partner)s?`;
const leadingRole = new RegExp(String.raw`^${roles}(?: \d)?\s*[:–—-]\s*`, "i");
/** Text that may follow a name: a share, a legal form in words, the party that the firm acts for, or its role. */
const trailers = [
  /[\s:,–—-]+\d{1,3}(?:\.\d+)?\s*%.*$/,
  /\s*,\s+an?\s[^,]*\b(?:company|partnership|corporation|limited)\b.*$/i,
  /\s*,?\s+(?:on behalf of|c\/o)\s.*$/i,
  new RegExp(String.raw`(?:\s*[:–—-]\s*|\s*,\s+)${roles}$`, "i"),
];

const unsaid =
  "available|provided|disclosed|listed|named|specified|stated|selected|identified|determined|applicable|known|given|reported|published|found|assigned";
const nobody = new RegExp(
  `^(?:none|n a|na|nil|no|tb[ad]|unknown|undisclosed|unspecified|unnamed|various|multiple|pending|confidential|same|to be \\w+)$` +
    `|^(?:none|no|see|same as) .*\\b(?:${unsaid}|developers?|sponsors?|owners?|partners?|firms?|entity|entities|names?|above|notes?|documents?|source|application)\\b` +
    `|\\bnot (?:yet )?(?:been )?(?:${unsaid})\\b|\\bto be (?:${unsaid}|announced|decided)\\b|\\b(?:unknown|undisclosed|tbd)$`,
);

/** Maximum length of a text with names, in characters. A longer one stays whole, so the check of names rejects it. */
const textMax = 2000;

/** Returns the firms named in a text. Leaves out words that stand for no firm or an unknown one, such as `TBD`. */
export function firmsIn(text: string): string[] {
  if (text.length > textMax) return [text];
  return text
    .replace(brackets, "")
    .split(between)
    .flatMap(jointFirms)
    .map(nameIn)
    .filter((name) => fold(name) !== "" && !nobody.test(fold(name)));
}

const hasForm = (text: string) => splitName(fold(text)).form !== "";
const isForm = (text: string) => splitName(`x ${fold(text)}`).core === "x";

/** Splits a text after each legal form that is followed by another firm. */
function jointFirms(text: string): string[] {
  const firms: string[] = [];
  let start = 0;
  for (const { 0: joint, index } of text.matchAll(joints)) {
    const [firm, rest] = [text.slice(start, index), text.slice(index + joint.length)];
    const [next = "", after = ""] = rest.split(",");
    if (!hasForm(firm) || isForm(next) || goingOn.test(rest)) continue;
    // A place may follow a comma: `Acme Co., Reno, NV`.
    if (joint.trim() === "," && !hasForm(next) && !isForm(after)) continue;
    firms.push(firm);
    start = index + joint.length;
  }
  return [...firms, text.slice(start)];
}

function nameIn(text: string): string {
  const named = text.trim().replace(leadingRole, "");
  const short = trailers.reduce((name, trailer) => name.replace(trailer, ""), named);
  return short.replace(/^[\s,:–—-]+|[\s,:–—-]+$/g, "");
}

/** Returns a name and the trade names after it, as in `Acme Corporation dba Birch`. */
export const tradeNames = (name: string): string[] =>
  name.split(/,?\s+(?:d\/?b\/?a\.?|doing business as)\s+/i);

/** Words that do not distinguish projects, such as articles, prepositions, numerals and phases. */
const weak = /\b(?:the|an?|at|of|on|in|and|by|phase|ph|[ivx]+|\d{1,2}|20[1-3]\d)\b/g;
/** Words for buildings, works and owners, which a project's owner may add to its name or drop. */
const usual = new RegExp(
  "\\b(?:apartments?|apts?|homes?|houses?|housing|residences?|villages?|villas?|lofts?|flats?|townhomes|townhouses|estates" +
    "|manor|place|plaza|towers?|seniors?|family|affordable|living|new|project|construction|preservation|redevelopment" +
    "|rehab|rehabilitation|renovation|owners?|developers?|development|dev|partners?|associates|gp|agp|mgp)\\b",
  "g",
);

/**
 * Reports whether a firm is named after a project. A firm with a legal form other than Inc., Corp. or Co. is compared
 * without the words in `usual`. Other firms have names of their own, in which those words are no sign of a project.
 */
export function isCalledAfter(firm: string, project: string): boolean {
  const { core, form } = splitName(fold(firm));
  const isVehicle = form !== "" && !/\b(?:inc|corp|co)\b/.test(form);
  const own = tellingWords(core, isVehicle);
  const its = tellingWords(fold(project.replace(brackets, "")), isVehicle);
  if (own === its || (its.includes(" ") && contains(own, its))) return true;
  // Many firms share a project's only distinctive word, so at most a space and four characters may be added to it.
  if (isVehicle && contains(own, its)) return own.length - its.length <= 5;
  return isVehicle && own.includes(" ") && contains(its, own);
}

function tellingWords(name: string, isVehicle: boolean): string {
  const without = (text: string, words: RegExp) => fold(text.replace(words, " ")) || text;
  return isVehicle ? without(without(name, weak), usual) : without(name, weak);
}

const contains = (text: string, part: string) => ` ${text} `.includes(` ${part} `);
