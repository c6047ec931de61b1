/** Matches a list of names to GPs: finds the GP that each name means, the certainty of the match, and a runner-up. */
import { editDistance } from "#records/edit-distance.ts";
import { fold } from "#records/fold.ts";
import type { Gp } from "#records/gp.ts";
import { isLegalForm, type NameParts, splitName } from "#records/legal-forms.ts";
import { stateCode } from "#records/us-states.ts";
import { readDocuments } from "./dataset-parts.ts";
import { positionOfId } from "./name-index.ts";
import { indexOfText, textAt } from "./packed-texts.ts";
import type { ReadModel } from "./read-model.ts";
import { suggest } from "./suggestions.ts";

/** Facts that a list gives about a GP. Facts left out are undefined or empty. */
export interface WantedGp {
  /** Name, or current or former id. */
  name: string;
  city?: string | undefined;
  state?: string | undefined;
  crd?: string | undefined;
  cik?: string | undefined;
}

/** Certainty of a match. docs/matching.md says when each is given. */
type Certainty = "sure" | "probable" | "unsure" | "none";

type MatchedGp = Pick<Gp, "id" | "name" | "hq_city" | "hq_state">;

export interface Match {
  certainty: Certainty;
  /** GP that the name means; null if no GP was found. */
  gp: MatchedGp | null;
  runnerUp: MatchedGp | null;
}

/** Public registers whose numbers decide a match. */
const registers = ["crd", "cik"] as const;

/** Minimum likeness of a similar name. Equal names have 1. */
const likenessMin = 0.65;
const typoLikenessMin = 0.85;
/** Minimum for the words in which two names differ. Different firms share words such as "Capital Management". */
const wordLikenessMin = 0.7;
/** Minimum lead of the best name in likeness. With less, the match is `unsure` unless its place fits better. */
const leadMin = 0.04;
/** Maximum number of suggestions to compare letter by letter for a whole name, and again for its core. */
const comparedMax = 6;

interface Candidate {
  position: number;
  gp: Gp;
  /** Likeness of the names, from 0 to 1; 1 if they differ at most in legal form. */
  likeness: number;
  isTypo: boolean;
  hasOtherForm: boolean;
  /** Number of given places that agree with the GP's, minus the number that differ. */
  placeFit: number;
  hasOtherPlace: boolean;
}

/**
 * Yields the match of each name, in order. First reads the CRD or CIK numbers of all GPs if the list gives any.
 * Yields null about every millisecond meanwhile, so that the caller can pause.
 */
export function* matchList(model: ReadModel, list: readonly WantedGp[]): Generator<Match | null> {
  for (const register of registers)
    if (list.some(({ [register]: number }) => isGiven(number)))
      for (const _ of model.prepare("gp", { [register]: ["0"] })) yield null;
  for (const wanted of list) yield matchOne(model, wanted);
}

const isGiven = (text: string | undefined): text is string => text !== undefined && text !== "";

function matchOne(model: ReadModel, wanted: WantedGp): Match {
  const { parts } = model;
  const found = registers
    // Lists say `n/a` or `0` for unknown numbers.
    .filter((register) => /[1-9]/.test(wanted[register] ?? ""))
    .map((register) => {
      const { positions } = model.select("gp", { [register]: [wanted[register]!] }, firstTwo);
      return { register, positions };
    });
  const hasOtherNumber = ({ external_ids: numbers }: Gp) =>
    found.some(({ register, positions }) => positions.length === 0 && numbers[register]?.length);
  const numbered = new Set(found.flatMap(({ positions }) => positions));
  if (numbered.size > 0) {
    const [gp, other] = readDocuments<Gp>(parts.documents.gp, [...numbered]);
    const certainty = other !== undefined || hasOtherNumber(gp!) ? "unsure" : "sure";
    return { certainty, gp: inBrief(gp!), runnerUp: other ? inBrief(other) : null };
  }
  const ofId = positionOfId(parts.ids, wanted.name.trim());
  if (ofId !== -1) {
    const [gp] = readDocuments<Gp>(parts.documents.gp, [ofId]);
    return { certainty: "sure", gp: inBrief(gp!), runnerUp: null };
  }
  const [best, second] = rankedCandidates(model, wanted);
  if (best === undefined) return { certainty: "none", gp: null, runnerUp: null };
  const certainty = hasOtherNumber(best.gp) ? "unsure" : certaintyOf(best, second);
  return { certainty, gp: inBrief(best.gp), runnerUp: second ? inBrief(second.gp) : null };
}

const firstTwo = { limit: 2, offset: 0 };

function certaintyOf(best: Candidate, second: Candidate | undefined): Certainty {
  const lead = second === undefined ? 1 : best.likeness - second.likeness;
  const isAhead = lead >= leadMin || best.placeFit > second!.placeFit;
  if (!isAhead) return "unsure";
  if (best.likeness < 1) return best.isTypo && !best.hasOtherPlace ? "probable" : "unsure";
  return best.hasOtherPlace || best.hasOtherForm ? "probable" : "sure";
}

/** Returns the GPs with the wanted name, or else those with similar names, the best first. */
function rankedCandidates(model: ReadModel, wanted: WantedGp): Candidate[] {
  const folded = fold(wanted.name);
  if (folded === "") return [];
  const sought = splitName(folded);
  const { nameSuggestions } = model.parts;
  const equal = gpsNamed(model, sought);
  const similar =
    equal.length > 0
      ? []
      : [...new Set([sought.core, folded])]
          .flatMap((text) => suggest(nameSuggestions, text, comparedMax))
          .map((name) => splitName(fold(name)))
          .filter(({ core }) => likenessOf(sought.core, core) >= likenessMin);
  const positions = [...new Set([...equal, ...similar.flatMap((name) => gpsNamed(model, name))])];
  return readDocuments<Gp>(model.parts.documents.gp, positions)
    .map((gp, i) => candidateOf(gp, positions[i]!, sought, wanted))
    .sort(
      (a, b) =>
        b.likeness - a.likeness ||
        b.placeFit - a.placeFit ||
        Number(a.hasOtherForm) - Number(b.hasOtherForm) ||
        a.position - b.position,
    );
}

function candidateOf(gp: Gp, position: number, sought: NameParts, wanted: WantedGp): Candidate {
  const names = [gp.name, gp.legal_name ?? gp.name, ...gp.aliases].map((name) =>
    splitName(fold(name)),
  );
  const likeness = Math.max(...names.map(({ core }) => likenessOf(sought.core, core)));
  const nearest = names.filter(({ core }) => likenessOf(sought.core, core) === likeness);
  const forms = nearest.map(({ form }) => form);
  const places: number[] = [
    agreement(wanted.city, gp.hq_city, fold),
    agreement(wanted.state, gp.hq_state, (state) => stateCode(state) ?? fold(state)),
  ];
  return {
    position,
    gp,
    likeness,
    isTypo: likeness >= typoLikenessMin && nearest.some(({ core }) => hasTypo(sought.core, core)),
    // A name without a legal form contradicts no form. Two different forms contradict each other.
    hasOtherForm: sought.form !== "" && !forms.includes(sought.form) && forms.some(isGiven),
    placeFit: places.reduce((sum, one) => sum + one, 0),
    hasOtherPlace: places.includes(-1),
  };
}

/** Returns 1 if two places are the same, -1 if they differ, and 0 if either is unknown. */
function agreement(
  given: string | undefined,
  known: string | null,
  comparable: (text: string) => string,
): number {
  if (!isGiven(given) || known === null) return 0;
  return comparable(given) === comparable(known) ? 1 : -1;
}

/** Returns the likeness of two names, from 0 to 1: 1 minus the share of letters that must be edited. */
const likenessOf = (a: string, b: string): number =>
  a === b ? 1 : 1 - editDistance(a, b) / Math.max(a.length, b.length);

const hasTypo = (a: string, b: string): boolean =>
  likenessOf(lettersOnlyIn(a, b), lettersOnlyIn(b, a)) >= wordLikenessMin;

const lettersOnlyIn = (name: string, other: string): string =>
  [...new Set(name.split(" ")).difference(new Set(other.split(" ")))].join("");

/** Returns the positions of the GPs with a name of this core, whatever its legal form. */
function gpsNamed({ parts: { names } }: ReadModel, { core }: NameParts): number[] {
  const { first, later } = names.gpsOfWord;
  // A legal form within a name may be spelled differently in the index. The first word is never a legal form.
  const sought = core.split(" ").filter((word, i) => i === 0 || !isLegalForm(word));
  const lists = sought.map((text) => {
    const word = indexOfText(names.words, Buffer.from(text));
    return { word, gps: word === -1 ? [] : [gpsIn(first, word), gpsIn(later, word)] };
  });
  const counts = lists.map(({ gps }) => gps.reduce((sum, { length }) => sum + length, 0));
  if (counts.includes(0)) return [];
  const { gps } = lists[counts.indexOf(Math.min(...counts))]!;
  const opening = lists[0]!.word;
  const { starts, items } = names.wordsOfName;
  const isNamed = (gp: number) => {
    for (let name = names.firstNameOfGp[gp]!; name < names.firstNameOfGp[gp + 1]!; name++) {
      const [start, end] = [starts[name]!, starts[name + 1]!];
      // Most names begin with another word. The second word opens a name that begins with `the`.
      if (items[start] !== opening && items[start + 1] !== opening) continue;
      const words = Array.from(items.subarray(start, end), (word) => textAt(names.words, word));
      if (splitName(words.join(" ")).core === core) return true;
    }
    return false;
  };
  const found = new Set<number>();
  for (const some of gps) for (const gp of some) if (isNamed(gp)) found.add(gp);
  return [...found];
}

const gpsIn = ({ starts, items }: { starts: Uint32Array; items: Uint32Array }, word: number) =>
  items.subarray(starts[word]!, starts[word + 1]!);

const inBrief = ({ id, name, hq_city, hq_state }: Gp): MatchedGp => ({
  id,
  name,
  hq_city,
  hq_state,
});
