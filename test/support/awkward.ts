/** Random records and queries made to be awkward, the same for the same seed: names that overlap, spellings that fold alike, links of every number. */
import type {
  CanonicalGp,
  CanonicalPrincipal,
  CanonicalProject,
  CanonicalRecord,
  CanonicalSignal,
} from "#records/canonical.ts";
import { propertyTypes, strategies } from "#records/vocabulary.ts";
import { type Random, repeat, seededRandom } from "./awkward/random.ts";
import {
  marketTitles,
  personWords,
  special,
  tagSpellings,
  themeSpellings,
  unsearchable,
  words,
} from "./awkward/words.ts";
import { type Facet, facets, kindOf, referenceAnswer, type ReferenceQuery } from "./reference.ts";
import { textsOf } from "./reference/queries.ts";
import { fold, namesOf } from "./reference/texts.ts";

/** How many of each kind; from 300 principals or signals on, one GP has more than 100 of them and one exactly 100. */
export interface AwkwardCounts {
  gps: number;
  principals: number;
  signals: number;
  projects: number;
}

const crowdMin = 300;
// So few that names of one dataset share them; other seeds take others.
const wordsMax = 60;
const idCharacters = Array.from("0123456789abcdefghijklmnopqrstuvwxyz");

/** Valid records in random order, the same for the same seed; kinds share their source ids. */
export function awkwardRecords(seed: number, counts: AwkwardCounts): CanonicalRecord[] {
  const random = seededRandom(seed);
  const own = random.some(wordsMax, words);
  const gps: CanonicalGp[] = [];
  for (let at = 0; at < counts.gps; at += 1) gps.push(gp(random, at, own, gps));
  const ids = gps.map(({ id }) => id);
  const principals = repeat(counts.principals, (at): CanonicalPrincipal => {
    const parts = repeat(1 + random.below(3), () => random.pick(personWords));
    const name = spell(random, parts.join(" "));
    const gps = links(random, at, counts.principals, ids);
    return { record: "principal", id: String(at), name, gps };
  });
  const signals = repeat(counts.signals, (at): CanonicalSignal => {
    const title = nameOf(random, own);
    const gps = links(random, at, counts.signals, ids);
    return { record: "signal", id: String(at), title, date: date(random), gps };
  });
  const projects = repeat(counts.projects, (at): CanonicalProject => {
    const name = nameOf(random, own);
    const gps = links(random, at, 0, ids);
    const isUnlinked = gps.length === 0 && random.chance(0.5);
    return { record: "project", id: String(at), name, ...(!isUnlinked && { gps }) };
  });
  const all = [...gps, ...principals, ...signals, ...projects];
  return random.some(all.length, all);
}

function gp(
  random: Random,
  at: number,
  own: readonly string[],
  before: readonly CanonicalGp[],
): CanonicalGp {
  const name = random.chance(0.12) ? nameOfAnother(random, own, before) : nameOf(random, own);
  return {
    record: "gp",
    id: String(at),
    name,
    ...(random.chance(0.3) && { legal_name: legalNameOf(random, name) }),
    ...(random.chance(0.05) && { legal_name: null }),
    ...(random.chance(0.3) && {
      aliases: repeat(1 + random.below(3), () =>
        random.chance(0.4) ? nameOfAnother(random, own, before) : nameOf(random, own),
      ),
    }),
    ...(random.chance(0.15) && {
      former_ids: [`gp_${repeat(16, () => random.pick(idCharacters)).join("")}`],
    }),
    ...(random.chance(0.5) && { strategies: random.some(1 + random.below(2), strategies) }),
    ...(random.chance(0.5) && { property_types: random.some(1 + random.below(3), propertyTypes) }),
    ...(random.chance(0.7) && { tags: random.some(1 + random.below(4), tagSpellings.flat()) }),
    ...(random.chance(0.6) && { themes: random.some(1 + random.below(3), themeSpellings.flat()) }),
    ...(random.chance(0.8) && { markets: random.some(1 + random.below(3), marketTitles) }),
    ...(at % 3 === 0 && { funds: fundsOf(at), funds_total: at }),
  };
}

/** Funds of a GP, as many as its number has thirds, each with more members than the last. */
const fundsOf = (at: number): NonNullable<CanonicalGp["funds"]> =>
  repeat(at / 3, (number) => ({
    name: `=Fund ${number}; "é"`,
    ...(number > 0 && { gross_assets_usd: number * 1_000_000, as_of: "2026-03-31" }),
    ...(number > 1 && { type: "Real Estate Fund", structure: "feeder" }),
    ...(number > 2 && { sold_usd: 5, external_ids: { adv_fund: ["805-1", "805-1"] } }),
  }));

/** None, one or several GPs, rarely the same one twice; the first GP is crowded, the second has exactly 100. */
function links(random: Random, at: number, crowd: number, ids: readonly string[]): string[] {
  const [first, second, ...others] = ids;
  if (first === undefined || second === undefined || crowd < crowdMin)
    return random.some(random.below(4), ids);
  const drawn = random.some(random.below(3), others);
  if (at <= 100) return [first, ...drawn];
  if (at <= 200) return [...drawn, second];
  if (random.chance(0.05)) return [first, ...drawn, first];
  return drawn;
}

/** Few enough that many records share one; as precise as a year, a month or a day. */
function date(random: Random): string {
  const year = random.pick(["1999", "2025", "2026"]);
  const month = `${year}-${random.pick(["01", "02", "11", "12"])}`;
  return random.pick([year, month, `${month}-${random.pick(["01", "10", "28"])}`]);
}

const nameLengthMax = 500;

/** A name of one to four of the words, rarely of very many. */
function nameOf(random: Random, own: readonly string[]): string {
  const count = random.chance(0.02) ? 60 : 1 + random.below(4);
  const parts = repeat(count, () => random.pick(own));
  if (random.chance(0.05)) parts.push(parts[0] as string);
  const joined = parts.join(
    random.pick([" ", " ", " ", " ", "-", " & ", ", ", "  ", "/", "_", " — "]),
  );
  const ending = random.pick(["", "", "", "", ".", "!", " (Fund II)", ", LLC", " 🏢", "®"]);
  return cut(spell(random, joined + ending));
}

/** The name of an earlier GP, as it is or in another spelling that mostly folds alike. */
function nameOfAnother(
  random: Random,
  own: readonly string[],
  before: readonly CanonicalGp[],
): string {
  if (before.length === 0) return nameOf(random, own);
  const { name } = random.pick(before);
  return random.chance(0.5) ? name : cut(spell(random, name));
}

function legalNameOf(random: Random, name: string): string {
  if (random.chance(0.2)) return name;
  return cut(
    random.chance(0.3) ? `The ${name}` : `${name}, ${random.pick(["LLC", "L.L.C.", "LP"])}`,
  );
}

/** Another case, composition or width. */
function spell(random: Random, text: string): string {
  const spellings = [
    (plain: string) => plain.toUpperCase(),
    (plain: string) => plain.toLowerCase(),
    (plain: string) => plain.normalize("NFD"),
    (plain: string) => plain.normalize("NFC"),
    fullWidth,
    (plain: string) => plain.replaceAll(" ", "  "),
  ];
  return random.chance(0.5) ? text : random.pick(spellings)(text);
}

function fullWidth(text: string): string {
  return text.replace(/[!-~]/g, (point) => String.fromCharCode(point.charCodeAt(0) + 0xfee0));
}

function cut(text: string): string {
  return Array.from(text).slice(0, nameLengthMax).join("").trim();
}

/** What stands between spaces and hyphens; the text itself where that is nothing. */
function pieces(text: string): string[] {
  const found = text.split(/[ ,-]+/).filter((piece) => piece !== "");
  return found.length > 0 ? found : [text];
}

/** So many code points in a row at most, from anywhere in the text. */
function part(random: Random, text: string, lengthMax: number): string {
  const points = Array.from(text);
  const start = random.below(points.length);
  return points.slice(start, start + 1 + random.below(lengthMax)).join("");
}

/** The text with one code point lost, doubled, replaced or changed with its neighbour. */
function misspelt(random: Random, text: string): string {
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

const gpNameLengthMax = 200;
const valueLengthMax = 100;
const operations = Object.keys(kindOf) as ReferenceQuery["operation"][];

/**
 * Valid queries, the same for the same seed, records and ids.
 * @param ids public ids of GPs, present or former, to ask for by id; former ids that stand in the records are used anyway.
 */
export function awkwardQueries(
  seed: number,
  records: readonly CanonicalRecord[],
  count: number,
  ids: readonly string[] = [],
): ReferenceQuery[] {
  const random = seededRandom(seed);
  const gps = records.filter((record) => record.record === "gp");
  const known = [...ids, ...gps.flatMap((gp) => gp.former_ids ?? [])];
  return repeat(count, () => {
    const query = conditions(random, gps, known);
    return random.chance(0.6) ? query : { ...query, offset: offset(random, records, query) };
  });
}

function conditions(
  random: Random,
  gps: readonly CanonicalGp[],
  ids: readonly string[],
): ReferenceQuery {
  const operation = random.pick(operations);
  const crowded = gps.filter(({ id }) => id === "0" || id === "1");
  const gp = random.some(1, random.chance(0.2) ? crowded : gps)[0];
  const limit = random.pick([1, 2, 20, 20, 99, 100, 100, 1 + random.below(100)]);
  const query: ReferenceQuery = { operation, limit, offset: 0 };
  if (operation === "fetch-gp" || random.chance(0.6))
    query.gp_name = fitting(
      nameAsked(random, gp, random.some(1, gps)[0], ids),
      operation === "fetch-gp" ? 2 : 1,
      gpNameLengthMax,
    );
  if (operation === "fetch-gp" || operation === "fetch-principals")
    for (const facet of facets)
      if (random.chance(0.3))
        query[facet] = valuesAsked(random, facet, gp).map((value) =>
          fitting(value, 1, valueLengthMax),
        );
  return query;
}

/** At, just before, just after or far beyond the end, or anywhere before it. */
function offset(
  random: Random,
  records: readonly CanonicalRecord[],
  query: ReferenceQuery,
): number {
  const { total } = referenceAnswer(
    records,
    query,
    (_, sourceId) => sourceId,
    () => [],
  );
  const near = [total, total - 1, total + 1, total - query.limit, total - query.limit - 1];
  return Math.max(0, random.pick([...near, 1, random.below(total + 1), 2147483647]));
}

/** The text as a request would carry it: composed, trimmed, of an allowed length. */
function fitting(text: string, lengthMin: number, lengthMax: number): string {
  const points = Array.from(text.normalize("NFC").trim());
  const fitted = points.slice(0, lengthMax).join("").trim();
  return Array.from(fitted).length < lengthMin ? "stone" : fitted;
}

/**
 * @param other a GP whose words may stand beside those of the first.
 * @param ids of GPs.
 */
function nameAsked(
  random: Random,
  gp: CanonicalGp | undefined,
  other: CanonicalGp | undefined,
  ids: readonly string[],
): string {
  const kind = random.below(20);
  if (kind < 12 && gp) return nameLike(random, random.pick(namesOf(gp)));
  if (kind < 14 && gp && other)
    return random.some(2, [...pieces(gp.name), ...pieces(other.name)]).join(" ");
  if (kind < 15) return spell(random, random.pick(words));
  if (kind < 16 && ids.length > 0) return random.pick(ids);
  if (kind < 17) return idLike(random, ids);
  if (kind < 19) return random.pick(special);
  return random.pick(unsearchable);
}

/** A real name, whole or in part, turned round, respelt, or nearly. */
function nameLike(random: Random, name: string): string {
  const parts = pieces(name);
  const variations = [
    () => name,
    () => spell(random, name),
    () => fold(name),
    () => part(random, name, 12),
    () => part(random, fold(name), 3),
    () => random.pick(parts),
    () =>
      Array.from(name)
        .slice(0, 1 + random.below(name.length))
        .join(""),
    () => Array.from(name).slice(random.below(name.length)).join(""),
    () => random.some(2, parts).join(" "),
    () => random.some(parts.length, parts).join(", "),
    () =>
      random
        .some(3, parts)
        .map((word) => part(random, word, 5))
        .join(" "),
    () => `${random.pick(parts)} ${random.pick(words)}`,
    () => misspelt(random, name),
    () => `"${name}"*`,
    () => fold(name).replaceAll(" ", ""),
  ];
  return random.pick(variations)();
}

/** What looks like an id and, nearly always, is none. */
function idLike(random: Random, ids: readonly string[]): string {
  const id = ids.length === 0 ? "gp_0000000000000000" : random.pick(ids);
  const variations = [
    id.toUpperCase(),
    id.slice(0, -1),
    `${id}0`,
    id.slice(3),
    misspelt(random, id),
    `${id} x`,
  ];
  return random.pick([...variations, id.replace("_", " "), "gp_", "gp", "pr_0000000000000000"]);
}

/** One to ten values, some of them repeated. */
function valuesAsked(random: Random, facet: Facet, gp: CanonicalGp | undefined): string[] {
  const count = random.pick([1, 1, 1, 1, 2, 2, 3, 10]);
  const drawn = repeat(count, () => value(random, facet, gp));
  return random.chance(0.1) ? drawn.concat(drawn).slice(0, 10) : drawn;
}

function value(random: Random, facet: Facet, gp: CanonicalGp | undefined): string {
  const all = { tag: tagSpellings.flat(), theme: themeSpellings.flat(), market: marketTitles }[
    facet
  ];
  const carried = gp ? textsOf(gp, "gp", facet) : [];
  const real = random.pick(carried.length > 0 && random.chance(0.8) ? carried : all);
  const kind = random.below(20);
  if (kind < 10) return real;
  if (kind < 12) return spell(random, real);
  if (kind < 13) return fold(real);
  if (kind < 15) return misspelt(random, real);
  if (kind < 16) return random.pick(pieces(real));
  if (kind < 17) return `${random.pick(pieces(real))}, ${random.pick(["TX", "nc", "NJ", "Pa"])}`;
  if (kind < 18)
    return random.pick([...words, "value_add", "multi family", "Winston", "Asia", "Fort Worth TX"]);
  return random.pick(kind < 19 ? special : unsearchable);
}
