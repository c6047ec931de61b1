/** Records that are hard to search: names that overlap, spellings that fold alike, links of every number. */
import type {
  CanonicalGp,
  CanonicalPrincipal,
  CanonicalProject,
  CanonicalRecord,
  CanonicalSignal,
} from "#records/canonical.ts";
import { propertyTypes, strategies } from "#records/vocabulary.ts";
import { legalNameOf, nameOf, nameOfAnother, spell } from "./names.ts";
import { repeat, seededRandom, type Random } from "./random.ts";
import { marketTitles, personWords, tagSpellings, themeSpellings, words } from "./words.ts";

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

/** Valid records in random order, the same for the same seed; kinds share their source ids. */
export function awkwardRecords(seed: number, counts: AwkwardCounts): CanonicalRecord[] {
  const random = seededRandom(seed);
  const own = random.some(wordsMax, words);
  const gps: CanonicalGp[] = [];
  for (let at = 0; at < counts.gps; at += 1) gps.push(gp(random, at, own, gps));
  const ids = gps.map(({ id }) => id);
  const principals = repeat(counts.principals, (at) =>
    principal(random, at, links(random, at, counts.principals, ids)),
  );
  const signals = repeat(counts.signals, (at) =>
    signal(random, at, own, links(random, at, counts.signals, ids)),
  );
  const projects = repeat(counts.projects, (at) =>
    project(random, at, own, links(random, at, 0, ids)),
  );
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
    ...(random.chance(0.15) && { former_ids: [formerId(random)] }),
    ...(random.chance(0.5) && { strategies: random.some(1 + random.below(2), strategies) }),
    ...(random.chance(0.5) && { property_types: random.some(1 + random.below(3), propertyTypes) }),
    ...(random.chance(0.7) && { tags: random.some(1 + random.below(4), tagSpellings.flat()) }),
    ...(random.chance(0.6) && { themes: random.some(1 + random.below(3), themeSpellings.flat()) }),
    ...(random.chance(0.8) && { markets: random.some(1 + random.below(3), marketTitles) }),
  };
}

function formerId(random: Random): string {
  const points = "0123456789abcdefghijklmnopqrstuvwxyz".split("");
  return `gp_${repeat(16, () => random.pick(points)).join("")}`;
}

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

function principal(random: Random, at: number, gps: string[]): CanonicalPrincipal {
  const parts = repeat(1 + random.below(3), () => random.pick(personWords));
  return { record: "principal", id: String(at), name: spell(random, parts.join(" ")), gps };
}

function signal(
  random: Random,
  at: number,
  own: readonly string[],
  gps: string[],
): CanonicalSignal {
  return { record: "signal", id: String(at), title: nameOf(random, own), date: date(random), gps };
}

function project(
  random: Random,
  at: number,
  own: readonly string[],
  gps: string[],
): CanonicalProject {
  const unlinked = gps.length === 0 && random.chance(0.5);
  return {
    record: "project",
    id: String(at),
    name: nameOf(random, own),
    ...(!unlinked && { gps }),
  };
}

/** Few enough that many records share one; as precise as a year, a month or a day. */
function date(random: Random): string {
  const year = random.pick(["1999", "2025", "2026"]);
  const month = `${year}-${random.pick(["01", "02", "11", "12"])}`;
  return random.pick([year, month, `${month}-${random.pick(["01", "10", "28"])}`]);
}
