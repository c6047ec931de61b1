/** What the four reads must answer, worked out the slow and plain way, for comparing the fast way with it. */
import type { CanonicalGp, CanonicalRecord } from "#records/canonical.ts";
import type { RecordKind } from "#records/kinds.ts";

/** A query whose parameters have been read and found valid. */
export interface ReferenceQuery {
  operation: "fetch-gp" | "fetch-principals" | "fetch-signals" | "fetch-projects";
  gp_name?: string;
  tag?: string[];
  theme?: string[];
  market?: string[];
  limit: number;
  offset: number;
}

export interface ReferenceAnswer {
  total: number;
  /** Public ids of the page, in order. */
  ids: string[];
  /** One for each id of the page; only on `fetch-gp`. */
  embedded?: ReferenceEmbedded[];
  hints: ReferenceHint[];
}

/** The public id under which a record of a source is served. */
export type PublicIdOf = (kind: RecordKind, sourceId: string) => string;
/** The public ids a GP had before, by its source id. */
type FormerIdsOf = (gpSourceId: string) => string[];

export const kindOf = {
  "fetch-gp": "gp",
  "fetch-principals": "principal",
  "fetch-signals": "signal",
  "fetch-projects": "project",
} as const;

/** @param records of one source, ids unique within their kind; a link to a GP that is not among them counts for nothing. */
export function referenceAnswer(
  records: readonly CanonicalRecord[],
  query: ReferenceQuery,
  publicIdOf: PublicIdOf,
  formerIdsOf: FormerIdsOf,
): ReferenceAnswer {
  const idOf: IdOf = (record) => publicIdOf(record.record, record.id);
  const gps = sortedBy(records.filter(isGp), (gp) => [fold(gp.name), idOf(gp)]);
  const linked = records.filter((record) => !isGp(record));
  const named = gpWithId(query.gp_name, gps, idOf, formerIdsOf);
  const ranks = ranksOf(gps, query, named);
  const kind = kindOf[query.operation];

  const found =
    kind === "gp"
      ? sortedBy([...ranks.keys()], (gp) => [ranks.get(gp) ?? 0, fold(gp.name), idOf(gp)])
      : inOrder(
          linked.filter((record) => record.record === kind && isReturned(record, query, ranks)),
          idOf,
        );
  const page = found.slice(query.offset, query.offset + query.limit);
  const embedded = page.filter(isGp).map((gp) => embeddedIn(gp, linked, idOf));

  const hints: ReferenceHint[] = [];
  if (query.gp_name !== undefined && !named) hints.push(...hintsOnName(query.gp_name, gps));
  for (const facet of facets) hints.push(...hintsOnValues(facet, query[facet] ?? [], gps));
  if (found.length > 0 && query.offset >= found.length) hints.push(hint("past_the_end", "offset"));
  if (embedded.some((one) => Math.max(one.principals_total, one.signals_total) > embeddedMax))
    hints.push(hint("embedded_list_cut", null));
  return { total: found.length, ids: page.map(idOf), ...(kind === "gp" && { embedded }), hints };
}

function isGp(record: CanonicalRecord): record is CanonicalGp {
  return record.record === "gp";
}

function gpWithId(
  gpName: string | undefined,
  gps: readonly CanonicalGp[],
  idOf: IdOf,
  formerIdsOf: FormerIdsOf,
): CanonicalGp | undefined {
  if (gpName === undefined) return undefined;
  const wanted = gpName.normalize("NFC").trim();
  return (
    gps.find((gp) => idOf(gp) === wanted) ?? gps.find((gp) => formerIdsOf(gp.id).includes(wanted))
  );
}

/** The GPs that satisfy all of the query, each with its rank; all the same where there is nothing to rank by. */
function ranksOf(
  gps: readonly CanonicalGp[],
  query: ReferenceQuery,
  named: CanonicalGp | undefined,
): Map<CanonicalGp, number> {
  const ranks = new Map<CanonicalGp, number>();
  for (const gp of named ? [named] : gps) {
    const rank = named || query.gp_name === undefined ? 0 : rankOf(gp, fold(query.gp_name));
    const carriesAll = facets.every((facet) => {
      const values = query[facet] ?? [];
      return values.length === 0 || carriesAny(gp, facet, values);
    });
    if (rank !== undefined && carriesAll) ranks.set(gp, rank);
  }
  return ranks;
}

/** A query without a condition returns the records of no GP too. */
function isReturned(
  record: LinkedRecord,
  query: ReferenceQuery,
  ranks: ReadonlyMap<CanonicalGp, number>,
): boolean {
  const isUnconditional =
    query.gp_name === undefined && facets.every((facet) => (query[facet] ?? []).length === 0);
  return isUnconditional || [...ranks.keys()].some((gp) => isLinked(record, gp));
}

type LinkedRecord = Exclude<CanonicalRecord, CanonicalGp>;
/** The public id a record is served under. */
type IdOf = (record: CanonicalRecord) => string;

/** What one GP holds inside itself: public ids, at most 100 of each, and how many there are. */
interface ReferenceEmbedded {
  principals: string[];
  principals_total: number;
  signals: string[];
  signals_total: number;
}

const embeddedMax = 100;

function isLinked(record: LinkedRecord, gp: CanonicalGp): boolean {
  return (record.gps ?? []).includes(gp.id);
}

/** Records of one kind in display order: signals newest first, others by folded name; then by id. */
function inOrder(records: readonly LinkedRecord[], idOf: IdOf): LinkedRecord[] {
  return sortedBy(records, (record) => [nameIn(record), idOf(record)]).sort((one, other) =>
    compareBytes(dateIn(other), dateIn(one)),
  );
}

function nameIn(record: LinkedRecord): string {
  return record.record === "signal" ? "" : fold(record.name);
}

function dateIn(record: LinkedRecord): string {
  return record.record === "signal" ? record.date : "";
}

/** @param linked every principal, signal and project there is. */
function embeddedIn(
  gp: CanonicalGp,
  linked: readonly LinkedRecord[],
  idOf: IdOf,
): ReferenceEmbedded {
  const idsOf = (kind: RecordKind) => {
    const own = linked.filter((record) => record.record === kind && isLinked(record, gp));
    return inOrder(own, idOf).map(idOf);
  };
  const principals = idsOf("principal");
  const signals = idsOf("signal");
  return {
    principals: principals.slice(0, embeddedMax),
    principals_total: principals.length,
    signals: signals.slice(0, embeddedMax),
    signals_total: signals.length,
  };
}

export const facets = ["tag", "theme", "market"] as const;
export type Facet = (typeof facets)[number];

/** Names as written: name, legal name, aliases. */
export function namesOf(gp: CanonicalGp): string[] {
  const legalName = typeof gp.legal_name === "string" ? [gp.legal_name] : [];
  return [gp.name, ...legalName, ...(gp.aliases ?? [])];
}

/** The best rank (0-4) of the names that satisfy every word; undefined where none does. */
export function rankOf(gp: CanonicalGp, folded: string): number | undefined {
  let best: number | undefined;
  for (const name of namesOf(gp).map(fold)) {
    if (!folded.split(" ").every((word) => standsIn(name, word))) continue;
    const rank = rankOfName(name, folded);
    if (best === undefined || rank < best) best = rank;
  }
  return best;
}

function standsIn(name: string, word: string): boolean {
  if (word === "") return false;
  const points = Array.from(word);
  const anywhere = points.length >= 4 || points.some(isOfUnspacedScript);
  return anywhere ? name.includes(word) : name.split(" ").some((one) => one.startsWith(word));
}

// By use, not by script alone: the long mark "ー" belongs to Hiragana and Katakana alike. Digits are not letters.
function isOfUnspacedScript(point: string): boolean {
  const scripts = /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}]/u;
  return /\p{L}/u.test(point) && scripts.test(point);
}

function rankOfName(name: string, query: string): number {
  if (name === query) return 0;
  if (name.startsWith(query)) return 1;
  if (name.includes(` ${query}`)) return 2;
  return name.includes(query) ? 3 : 4;
}

/** Every spelling under which a GP answers to a tag, theme or market. */
export function spellingsCarried(gp: CanonicalGp, facet: Facet): string[] {
  if (facet === "tag")
    return [...(gp.tags ?? []), ...(gp.strategies ?? []), ...(gp.property_types ?? [])];
  if (facet === "theme") return gp.themes ?? [];
  return (gp.markets ?? []).flatMap(marketSpellings);
}

/** Whether the GP carries at least one of the values. */
function carriesAny(gp: CanonicalGp, facet: Facet, values: readonly string[]): boolean {
  const carried = spellingsCarried(gp, facet).map(fold);
  return values.some((value) => fold(value) !== "" && carried.includes(fold(value)));
}

const hyphenatedCities = [
  "Winston-Salem",
  "Wilkes-Barre",
  "Dover-Foxcroft",
  "Milton-Freewater",
  "Fuquay-Varina",
];

/** The spellings as shown, title first; only the title where it is not of the form `City-City, ST-ST`. */
export function marketSpellings(title: string): string[] {
  const [before, after, ...more] = title.split(",").map((part) => part.trim());
  if (before === undefined || after === undefined || more.length > 0) return [title];
  const states = after.split("-");
  if (!states.every(isState)) return [title];
  const cities = citiesOf(before);
  const citiesAndStates = cities.flatMap((city) => states.map((state) => `${city}, ${state}`));
  return [title, before, ...cities, ...citiesAndStates].filter((spelling) => fold(spelling) !== "");
}

function isState(text: string): boolean {
  return /^[A-Za-z]{2}$/.test(text);
}

function citiesOf(text: string): string[] {
  const cities: string[] = [];
  let rest = text;
  while (rest !== "") {
    const city = hyphenatedCityAt(rest) ?? rest.split("-")[0] ?? "";
    cities.push(city.trim());
    rest = rest.slice(city.length + 1);
  }
  return cities.filter((city) => fold(city) !== "");
}

function hyphenatedCityAt(text: string): string | undefined {
  const start = `${text.toLowerCase()}-`;
  const found = hyphenatedCities.find((city) => start.startsWith(`${city.toLowerCase()}-`));
  return found && text.slice(0, found.length);
}

interface ReferenceHint {
  code: string;
  parameter: string | null;
  suggestions: string[];
}

/** @param gps all GPs in display order. */
function hintsOnName(gpName: string, gps: readonly CanonicalGp[]): ReferenceHint[] {
  const folded = fold(gpName);
  if (folded === "") return [hint("no_searchable_character", "gp_name")];
  if (gps.some((gp) => rankOf(gp, folded) !== undefined)) return [];
  const names = new Set(gps.flatMap(namesOf));
  return [hint("no_match", "gp_name", suggestions(folded, [...names]))];
}

/** One hint for each value that finds no GP, in the order given. */
function hintsOnValues(
  facet: Facet,
  values: readonly string[],
  gps: readonly CanonicalGp[],
): ReferenceHint[] {
  const hints: ReferenceHint[] = [];
  for (const value of values) {
    if (fold(value) === "") hints.push(hint("no_searchable_character", facet));
    else if (!gps.some((gp) => carriesAny(gp, facet, [value])))
      hints.push(hint("unknown_value", facet, suggestions(fold(value), shownValues(facet, gps))));
  }
  return hints;
}

function hint(code: string, parameter: string | null, found: string[] = []): ReferenceHint {
  return { code, parameter, suggestions: found };
}

/** Each folded form once, as the spelling that is first by bytes; in order of the folded form. */
function shownValues(facet: Facet, gps: readonly CanonicalGp[]): string[] {
  const shown = new Map<string, string>();
  for (const spelling of gps.flatMap((gp) => spellingsCarried(gp, facet))) {
    const before = shown.get(fold(spelling));
    if (before === undefined || compareBytes(spelling, before) < 0)
      shown.set(fold(spelling), spelling);
  }
  return sortedBy([...shown], ([folded]) => [folded]).map(([, spelling]) => spelling);
}

/** The three candidates most like the folded text; equally like ones keep their order. */
function suggestions(folded: string, candidates: readonly string[]): string[] {
  const wanted = trigrams(folded);
  return candidates
    .map((shown) => ({ shown, likeness: dice(wanted, trigrams(fold(shown))) }))
    .filter(({ likeness }) => likeness >= 0.4)
    .sort((one, other) => other.likeness - one.likeness)
    .slice(0, 3)
    .map(({ shown }) => shown);
}

function trigrams(folded: string): Set<string> {
  const points = Array.from(` ${folded} `);
  const found = new Set<string>();
  for (let end = 3; end <= points.length; end += 1) found.add(points.slice(end - 3, end).join(""));
  return found;
}

/** Twice the common part over the sum of the parts, 0-1 (Dice 1945). */
function dice(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  return (2 * [...one].filter((part) => other.has(part)).length) / (one.size + other.size);
}

export function compareBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

/** The things in a new list, by the first key that differs; numbers by size, text by bytes. */
function sortedBy<T>(things: readonly T[], keysOf: (thing: T) => (string | number)[]): T[] {
  return things
    .map((thing) => ({ thing, keys: keysOf(thing) }))
    .sort((one, other) => {
      const differences = one.keys.map((key, place) => compareKeys(key, other.keys[place]));
      return differences.find((difference) => difference !== 0) ?? 0;
    })
    .map(({ thing }) => thing);
}

function compareKeys(one: string | number, other: string | number | undefined): number {
  return typeof one === "number" && typeof other === "number"
    ? one - other
    : compareBytes(String(one), String(other));
}

const letters = new Map(
  Object.entries({
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
  }),
);
const deleted = ["'", "’", "‘", "ʼ", "."];
const foldedTexts = new Map<string, string>();

/** Text as it is compared; empty where it holds no letter and no number. */
export function fold(text: string): string {
  const known = foldedTexts.get(text);
  if (known !== undefined) return known;
  const points = Array.from(text).map(foldedPoint).join("");
  const words = points.split(" ").filter((word) => word !== "");
  foldedTexts.set(text, words.join(" "));
  return words.join(" ");
}

// Every rule looks at one code point only, so the whole is the sum of the parts.
function foldedPoint(point: string): string {
  const lower = withoutMarks(point).map((one) => one.toLowerCase());
  return withoutMarks(lower.join("")).map(asCompared).join("");
}

function withoutMarks(text: string): string[] {
  return Array.from(text.normalize("NFKD")).filter((point) => !/\p{M}/u.test(point));
}

function asCompared(point: string): string {
  if (deleted.includes(point)) return "";
  const written = letters.get(point) ?? point;
  return /[\p{L}\p{N}]/u.test(written) ? written : " ";
}
