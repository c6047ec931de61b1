/**
 * Invents a whole source of records from a seed: GPs and principals in this file, projects and signals in `deals.ts`.
 * Earlier GPs tend to have more money, people, projects and signals.
 */
import type {
  CanonicalPrincipal,
  CanonicalProject,
  CanonicalRecord,
  SourceEntry,
} from "#records/canonical.ts";
import type { ExternalIds } from "#records/common.ts";
import { fold } from "#records/fold.ts";
import type { principalRoles } from "#records/vocabulary.ts";
import places from "./places.json" with { type: "json" };
import { projectInventor, signalInventor } from "./deals.ts";
import { drawMore, startRandom, weighted, weightedKeys, type Random } from "./random.ts";
import words from "./words.json" with { type: "json" };
import {
  dayOf,
  dayText,
  type InventedGp,
  inventFrom,
  lastDay,
  lastYear,
  type Metro,
  metros,
  type PropertyType,
  recentDay,
  roughDay,
  roundAmount,
  someCity,
  someMetro,
  someTime,
  withNeighbours,
} from "./world.ts";

/** Number of records of each kind, and the seed that decides their content. */
export type DemoSize = Readonly<typeof demoSize>;

export const recordCount = ({ seed: _seed, ...counts }: DemoSize): number =>
  Object.values(counts).reduce((sum, count) => sum + count);

/** Size of the dataset that `serve --demo` publishes. A year of real filings has about the same size. */
export const demoSize = {
  seed: 20261120,
  gps: 12_000,
  principals: 25_000,
  signals: 20_000,
  projects: 8_000,
};

/**
 * Yields an entry for each record. The same sizes and seed give the same records on every machine. No record is about
 * anybody real: hosts end in `.example`, and numbers are beyond those in use. No past event is later than 20 November
 * 2026.
 */
export function* inventRecords(size: DemoSize): Generator<SourceEntry> {
  let line = 0;
  for (const { count, invent } of inventorsOf(size))
    for (let number = 1; number <= count; number++) yield entryOf(++line, invent(number));
}

/**
 * Yields the source as it was two days earlier: without the latest records, with a few that have since been
 * withdrawn, and with the old values of some that have since changed.
 */
export function* inventEarlier(size: DemoSize): Generator<SourceEntry> {
  const inventors = inventorsOf(size);
  let line = 0;
  for (const { count, invent } of inventors)
    for (let number = 1; number <= count; number++) {
      const record = earlier(invent(number), number);
      if (record !== null) yield entryOf(++line, record);
    }
  for (const { count, invent, withdrawn } of inventors)
    for (let number = count + 1; number <= count + Math.ceil(count * withdrawn); number++)
      yield entryOf(++line, invent(number));
}

/**
 * Returns an inventor of records for each kind. Use them in this order, because later kinds refer to earlier ones.
 * `withdrawn` is the number of extra records in the earlier source, as a share of `count`.
 */
function inventorsOf({ seed, ...size }: DemoSize) {
  const gps: InventedGp[] = [];
  const inventGp = gpInventor(seed);
  const invent = (number: number) => (gps[number - 1] = inventGp(number)).record;
  return [
    { count: size.gps, invent, withdrawn: 0 },
    { count: size.principals, invent: principalInventor(seed, gps), withdrawn: 0.001 },
    { count: size.projects, invent: projectInventor(seed, gps), withdrawn: 0.002 },
    { count: size.signals, invent: signalInventor(seed, gps), withdrawn: 0.003 },
  ];
}

const entryOf = (line: number, record: CanonicalRecord): SourceEntry => ({
  file: "demo",
  line,
  records: [record],
  namedGps: [],
  faults: [],
});

/** First day whose signals the earlier source lacks. */
const firstLater = dayText(lastDay - 1);

const statusBefore: Readonly<Partial<Record<string, CanonicalProject["status"]>>> = {
  under_construction: "planned",
  completed: "under_construction",
  closed: "raising",
};

/** Record of one of the kinds in `inventorsOf`. */
type Invented = ReturnType<ReturnType<typeof inventorsOf>[number]["invent"]>;

/** Returns a record as it was two days earlier; null if it did not exist. */
function earlier(record: Invented, number: number): Invented | null {
  const isOneOf = (every: number) => number % every === 0;
  switch (record.record) {
    case "gp": {
      const { aum_usd: aum = null, raised_to_date_usd: raised = null } = record;
      if (aum !== null && isOneOf(3)) return { ...record, aum_usd: Math.round(aum * 0.94) };
      return raised !== null && isOneOf(5)
        ? { ...record, raised_to_date_usd: Math.round(raised * 0.9) }
        : record;
    }
    case "principal":
      if (isOneOf(190)) return null;
      return isOneOf(40) ? { ...record, title: null } : record;
    case "project": {
      const status = statusBefore[record.status ?? ""];
      return status !== undefined && isOneOf(12) ? { ...record, status } : record;
    }
    case "signal":
      return record.date >= firstLater ? null : record;
  }
}

/** A kind of GP: the property it buys, the words in its name, its themes, and whether it lends. */
interface Specialty {
  weight: number;
  /** Property types that all such GPs buy; `also` lists types that only some buy. */
  main: PropertyType[];
  also: PropertyType[];
  /** Words that a name may contain; empty for GPs without a sector. */
  nameWords: string[];
  themes: string[];
  lends?: boolean;
}

const specialties = words.specialties as Specialty[];
const someSpecialty = weighted(specialties.map((one) => [one, one.weight]));
const someStrategy = weightedKeys(words.strategies);

/** Number of large GPs, which may have more markets, names and files. */
const largeCount = 200;
// All updates are newer than the newest `aum_as_of`.
const updatedDays = 140;

/** Returns a function that invents the next GP, given its number from 1. */
function gpInventor(seed: number): (number: number) => InventedGp {
  const random = startRandom(seed, "gps");
  const areas = new Map<Metro, InventedGp[]>(metros.map((metro) => [metro, []]));
  const names = new Set<string>();
  let filed = 0;
  return (number) => {
    const isLarge = number <= largeCount;
    const specialty = someSpecialty(random);
    const gpName = freeName(random, specialty, names);
    const { externalIds, tags } = inventFilings(random, number, filed, isLarge);
    filed += externalIds.form_d_file?.length ?? 0;
    const home = someMetro(random);
    const neighbours = areas.get(home)!;
    const { country } = gpName;
    const abroad = random.chance(0.5) ? citiesAbroad[country] : undefined;
    const city = abroad
      ? { name: abroad, state: null, country, zipStart: "" }
      : someCity(random, home);
    const inMetros = drawMore([home], few(random, isLarge ? 8 : 4), () => someMetro(random));
    const scaleUsd = random.logNormal(120e6 * (1 + 2400 / (60 + number)), 1.2);
    // Between seventy years ago and last year.
    const foundedYear = lastYear - 1 - few(random, 70);
    const strategies = [specialty.lends ? "debt" : someStrategy(random)];
    const record: InventedGp["record"] = {
      record: "gp",
      id: `gp-${number}`,
      name: gpName.name,
      legal_name: inventLegalName(random, gpName),
      aliases: someAliases(random, gpName, few(random, isLarge ? 9 : 4)),
      description: null,
      website: random.chance(0.6) ? `https://${hostOf(gpName)}` : null,
      hq_city: city.name,
      hq_state: city.state,
      hq_country: city.country,
      founded_year: random.chance(0.7) ? foundedYear : null,
      ...someAssets(random, scaleUsd, externalIds),
      strategies: drawMore(strategies, random.chance(0.35) ? 1 : 0, () => someStrategy(random)),
      property_types: [...specialty.main, ...random.pickSome(specialty.also, random.whole(0, 2))],
      tags,
      themes: random.pickSome(specialty.themes, random.whole(0, 2)),
      markets: inMetros.map(({ title }) => title),
      external_ids: externalIds,
      updated_at: someTime(random, recentDay(random, updatedDays)),
    };
    if (random.chance(0.12)) record.provenance = { basis: "related_entity", confidence: 0.8 };
    const { stem } = gpName;
    const metrosOfGp = { city, metros: inMetros, neighbours };
    const gp = { record, stem, ...metrosOfGp, scaleUsd, foundedYear, people: [], projects: [] };
    neighbours.push(gp);
    return gp;
  };
}

/** Cities where GPs with foreign names may have their head office, by country. */
const citiesAbroad: Readonly<Record<string, string>> = places.citiesAbroad;

/** Draws a whole number below `count`; smaller ones are more likely. */
const few = (random: Random, count: number): number => Math.floor(random.next() ** 2 * count);

/** Invents a name that is rarely taken: firms with the same name exist, and the service has to tell them apart. */
function freeName(random: Random, specialty: Specialty, names: Set<string>): GpName {
  let gpName = inventName(random, specialty);
  while (names.has(gpName.name) && !random.chance(0.01)) gpName = inventName(random, specialty);
  names.add(gpName.name);
  return gpName;
}

interface GpName {
  name: string;
  /** Name without sector and ending. Names of the GP's funds contain it. */
  stem: string;
  /** Name in Latin letters; the same as `name` unless that is in another script. */
  latin: string;
  /** Country where such names are usual, as two letters (ISO 3166). */
  country: string;
}

const someStem = weightedKeys(words.stems);
const someEnd = weightedKeys(words.firmEnds);
const someEndAfterSector = weightedKeys(words.firmEndsAfterSector);

/** Invents a name: a stem, often a sector, and an ending. The name may already be taken. */
function inventName(random: Random, { nameWords }: Specialty): GpName {
  if (random.chance(0.025)) return nameAbroad(random);
  const stem = inventFrom(random, someStem(random));
  const name =
    nameWords.length > 0 && random.chance(0.4)
      ? `${stem} ${random.pick(nameWords)} ${someEndAfterSector(random)}`
      : `${stem} ${someEnd(random)}`;
  return { name, stem, latin: name, country: "US" };
}

/** Invents a foreign name. In the word lists, `|` and a Latin spelling follow words in other scripts. */
function nameAbroad(random: Random): GpName {
  const { country, ends, names } = random.pick(words.namesAbroad);
  const [name = "", stem = name] = random.pick(names).split("|");
  const [end = "", endLatin = end] = random.pick(ends).split("|");
  return { name: name + end, stem, latin: stem + endLatin, country };
}

const someForm = weightedKeys(words.legalForms);

function inventLegalName(random: Random, { latin }: GpName): string | null {
  if (random.chance(0.1)) return null;
  const legalName = latin + someForm(random);
  return random.chance(0.07) ? legalName.toUpperCase() : legalName;
}

/** Returns a host below `.example`. RFC 2606 reserves this domain, so the host belongs to nobody. */
const hostOf = ({ latin }: GpName): string =>
  `${fold(latin.replaceAll(/['.]/g, "")).replaceAll(/[^a-z0-9]+/g, "-")}.example`;

/** Draws a pattern for names of a fund's manager, such as `Northwind Fund III GP, LP`. */
const someManagerName = weightedKeys(words.managerNames);

// Real numbers have not reached these ranges, so none of these belongs to anybody.
const formDFileStart = 900_001;
const cikStart = 9_000_001;
const crdStart = 9_900_000;
const secNumberStart = 900_000;

/**
 * Invents a GP's filings: its numbers in public registers, and the tags that go with the filings.
 * @param number the GP's number, from 1.
 * @param filed number of Form D files of all earlier GPs, which makes this GP's numbers unique.
 */
function inventFilings(random: Random, number: number, filed: number, isLarge: boolean) {
  const externalIds: ExternalIds = {};
  const tags: string[] = [];
  if (random.chance(0.68)) {
    const files = Array.from({ length: 1 + few(random, isLarge ? 16 : 5) }, (_, at) => filed + at);
    externalIds.cik = files.map((file) => String(cikStart + file).padStart(10, "0"));
    externalIds.form_d_file = files.map((file) => `021-${formDFileStart + file}`);
    tags.push(...random.pickEach(words.offeringTags));
    if (files.length === 1 && random.chance(0.5)) tags.push("first_time_filer");
    if (files.length >= 4) tags.push("serial_filer");
  }
  if (random.chance(0.34)) {
    const isRegistered = random.chance(0.6);
    externalIds.crd = [String(crdStart + number)];
    externalIds.sec_number = [`${isRegistered ? 801 : 802}-${secNumberStart + number}`];
    tags.push(isRegistered ? "registered_adviser" : "exempt_reporting_adviser");
  }
  return { externalIds, tags };
}

const someAliases = (random: Random, { name, stem, latin }: GpName, count: number): string[] =>
  drawMore(latin === name ? [] : [latin], count, () =>
    inventFrom(random, someManagerName(random), stem),
  );

const quarterEnds = [dayOf(lastYear - 1, 12, 31), dayOf(lastYear, 3, 31), dayOf(lastYear, 6, 30)];

function someAssets(random: Random, scaleUsd: number, { crd, form_d_file }: ExternalIds) {
  // Advisers have to disclose their assets; fewer than half of the others do.
  const isTold = random.chance(crd === undefined ? 0.42 : 0.95);
  const isRaised = form_d_file !== undefined && random.chance(0.8);
  return {
    aum_usd: isTold ? roundAmount(scaleUsd) : null,
    aum_as_of: isTold ? dayText(random.pick(quarterEnds)) : null,
    raised_to_date_usd: isRaised ? Math.round(random.logNormal(scaleUsd * 0.25, 0.5)) : null,
  };
}

interface Position {
  weight: number;
  title: string;
  roles: (typeof principalRoles)[number][];
}

const positions = words.positions as Position[];
const somePosition = weighted(positions.map((one) => [one, one.weight]));
const someBand = weightedKeys(words.ownershipBands);

// Enough for headlines to name different people.
const peopleKeptMax = 4;
// The register of individuals has not reached this range.
const personCrdStart = 9_000_000;

/** Returns a function that invents a principal, given its number from 1. Usually the GP of that number employs it. */
function principalInventor(seed: number, gps: readonly InventedGp[]) {
  const random = startRandom(seed, "principals");
  return (number: number): CanonicalPrincipal => {
    const employers = someEmployers(random, number, gps);
    const [gp] = employers;
    const { title, roles } = somePosition(random);
    const name = somePersonName(random);
    for (const { people } of employers)
      if (people.length < peopleKeptMax) people.push({ name: name.full, title });
    const city = gp?.city ?? someCity(random, someMetro(random));
    const startDay = random.whole(dayOf(Math.max(gp?.foundedYear ?? 2010, 1985)), lastDay);
    const firstSeenDay = random.whole(Math.max(startDay, dayOf(2009)), lastDay);
    const lastSeenDay = random.whole(firstSeenDay, lastDay);
    const { website = null, external_ids = {} } = gp?.record ?? {};
    return {
      record: "principal",
      id: `principal-${number}`,
      name: name.full,
      first_name: name.first,
      middle_name: name.middle,
      last_name: name.last,
      title: random.chance(0.93) ? title : null,
      roles: [...roles],
      city: city.name,
      state: city.state,
      country: city.country,
      email:
        website !== null && random.chance(0.33) ? mailOf([name.first, name.last], website) : null,
      linkedin_url: null,
      ownership_band: roles.includes("owner") && random.chance(0.8) ? someBand(random) : null,
      start_date: random.chance(0.6) ? roughDay(random, startDay) : null,
      first_seen_date: dayText(firstSeenDay),
      last_seen_date: dayText(lastSeenDay),
      external_ids:
        external_ids.crd && random.chance(0.5) ? { crd: [String(personCrdStart + number)] } : {},
      gps: employers.map(({ record }) => record.id),
      updated_at: someTime(random, lastSeenDay),
    };
  };
}

const someOtherCount = weighted([
  [0, 84],
  [1, 11],
  [2, 5],
]);

function someEmployers(random: Random, number: number, gps: readonly InventedGp[]): InventedGp[] {
  if (gps.length === 0 || random.chance(0.015)) return [];
  return withNeighbours(random, gps[number - 1] ?? random.pickEarly(gps), someOtherCount(random));
}

const someSuffix = weightedKeys(words.nameSuffixes);

function somePersonName(random: Random) {
  const first = random.pick(words.firstNames);
  const last = random.pick(words.lastNames);
  const middle = random.chance(0.62) ? null : `${random.pick(words.firstNames)[0]}.`;
  const name = middle === null ? `${first} ${last}` : `${first} ${middle} ${last}`;
  return { full: name + someSuffix(random), first, middle, last };
}

const mailOf = (names: readonly string[], website: string): string =>
  `${names.map((name) => fold(name).replaceAll(" ", "-")).join(".")}@${new URL(website).host}`;
