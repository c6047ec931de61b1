/** Invents GPs. They are numbered by prominence: the first have the most money, people, projects and signals. */
import type { CanonicalGp } from "#records/canonical.ts";
import type { ExternalIds, Provenance } from "#records/common.ts";
import type { InventedGp, PropertyType, Strategy } from "./cast.ts";
import { dayOf, dayText, lastYear, recentDay, someTime } from "./dates.ts";
import { hostOf, inventLegalName, inventManager, inventName, type GpName } from "./names.ts";
import { citiesAbroad, metros, someCity, someMetro, type City, type Metro } from "./places.ts";
import {
  chance,
  drawMore,
  logNormal,
  pick,
  pickEach,
  pickSome,
  startRandom,
  trimmed,
  weighted,
  weightedKeys,
  whole,
  type Random,
} from "./random.ts";
import { fill, roundAmount } from "./text.ts";
import words from "./words.json" with { type: "json" };

/** A kind of GP: what it buys, how it earns, and the words its name may carry. */
interface Specialty {
  weight: number;
  /** What all GPs of the kind buy, and what some of them buy too. */
  main: PropertyType[];
  also: PropertyType[];
  /** Words a name may carry; none for GPs without a sector. */
  nameWords: string[];
  themes: string[];
  lends?: boolean;
}

const specialties = words.specialties as Specialty[];
/** Apartments come up most. */
export const someSpecialty = weighted(specialties.map((one) => [one, one.weight]));

/** What the GPs so far have taken, and where they are. */
interface Register {
  names: Set<string>;
  formDFileCount: number;
  areas: ReadonlyMap<Metro, InventedGp[]>;
}

/** Makes the function that invents GP after GP, by number from 1, and adds each to `gps`. */
export function gpInventor(seed: number, gps: InventedGp[]): (number: number) => CanonicalGp {
  const random = startRandom(seed, "gps");
  const areas = new Map(metros.map((metro) => [metro, []]));
  const register: Register = { names: new Set(), formDFileCount: 0, areas };
  return (number) => {
    const { gp, record } = inventGp(random, number, register);
    gps.push(gp);
    return record;
  };
}

/** How many GPs count as large: they are in more markets and have more names and files. */
const largeCount = 200;

function inventGp(random: Random, number: number, register: Register) {
  const specialty = someSpecialty(random);
  const gpName = freeName(random, specialty, register.names);
  const filings = inventFilings(random, number, register.formDFileCount, specialty);
  const home = someMetro(random);
  const neighbours = register.areas.get(home) as InventedGp[];
  const gp: InventedGp = {
    id: `gp-${number}`,
    name: gpName.name,
    stem: gpName.stem,
    city: someHeadOffice(random, gpName.country, home),
    metros: someMetros(random, home, number),
    neighbours,
    propertyTypes: specialty.main.concat(pickSome(random, specialty.also, whole(random, 0, 2))),
    strategies: someStrategies(random, specialty),
    tags: filings.tags,
    themes: pickSome(random, specialty.themes, whole(random, 0, 2)),
    formDFiles: filings.formDFiles,
    isAdviser: filings.isAdviser,
    scaleUsd: logNormal(random, 120e6 * (1 + 2400 / (60 + number)), 1.2),
    foundedYear: someFoundedYear(random),
    host: chance(random, 0.6) ? hostOf(gpName) : null,
    people: [],
    projects: [],
  };
  neighbours.push(gp);
  register.formDFileCount += gp.formDFiles.length;
  return { gp, record: gpRecordOf(random, number, gp, gpName, filings.externalIds) };
}

// Two firms of one name do happen, and a service over them has to tell them apart.
const sharedNameShare = 0.01;

function freeName(random: Random, specialty: Specialty, names: Set<string>): GpName {
  let gpName = inventName(random, specialty);
  while (names.has(gpName.name) && !chance(random, sharedNameShare))
    gpName = inventName(random, specialty);
  names.add(gpName.name);
  return gpName;
}

/** Half of those with a name in another language have their head office abroad. */
function someHeadOffice(random: Random, country: string, home: Metro): City {
  const abroad = country !== "US" && chance(random, 0.5) ? citiesAbroad.get(country) : undefined;
  return abroad ?? someCity(random, home);
}

/** Its own area and others. */
function someMetros(random: Random, home: Metro, number: number): Metro[] {
  const share = random();
  const others = number <= largeCount ? whole(random, 1, 7) : Math.floor(share * share * 4);
  return drawMore([home], others, () => someMetro(random));
}

const someStrategy = weightedKeys(words.strategies);

function someStrategies(random: Random, { lends }: Specialty): Strategy[] {
  const first = lends ? "debt" : someStrategy(random);
  const second = chance(random, 0.35) ? someStrategy(random) : first;
  return second === first ? [first] : [first, second];
}

/** From seventy years ago to last year, the more likely the later. */
function someFoundedYear(random: Random): number {
  const share = random();
  return lastYear - 1 - Math.floor(share * share * 70);
}

const someProfile = weightedKeys({ offerings: 50, adviser: 16, both: 18, none: 16 });

// Real numbers have not come this far, so none of these is anybody's.
const formDFileStart = 900_000;
const cikStart = 9_000_000;
const crdStart = 9_900_000;
const secNumberStart = 900_000;

/**
 * What authorities would know of a GP: its invented numbers and the facts that go with them.
 * @param number the GP's own, from 1.
 * @param filed how many Form D files the GPs before it have; makes this one's unique.
 */
function inventFilings(random: Random, number: number, filed: number, specialty: Specialty) {
  const profile = someProfile(random);
  const isAdviser = profile === "adviser" || profile === "both";
  const fileCount =
    profile === "offerings" || profile === "both" ? someFileCount(random, number) : 0;
  const formDFiles = numbered(formDFileStart + filed, fileCount, (file) => `021-${file}`);
  const tags = fileCount > 0 ? someOfferingTags(random, fileCount, specialty) : [];
  const externalIds: ExternalIds = {};
  if (fileCount > 0) {
    externalIds.cik = numbered(cikStart + filed, fileCount, (cik) => String(cik).padStart(10, "0"));
    externalIds.form_d_file = formDFiles;
  }
  if (isAdviser) {
    const isRegistered = chance(random, 0.6);
    externalIds.crd = [String(crdStart + number)];
    externalIds.sec_number = [`${isRegistered ? 801 : 802}-${secNumberStart + number}`];
    tags.push(isRegistered ? "registered_adviser" : "exempt_reporting_adviser");
  }
  return { externalIds, tags: trimmed(tags), formDFiles, isAdviser };
}

function someFileCount(random: Random, number: number): number {
  const share = random();
  return 1 + Math.floor(share * share * (number <= largeCount ? 16 : 5));
}

const numbered = (start: number, count: number, write: (value: number) => string): string[] =>
  Array.from({ length: count }, (_, at) => write(start + at + 1));

const offeringTagShares = Object.entries(words.offeringTags);

function someOfferingTags(random: Random, fileCount: number, { themes }: Specialty): string[] {
  const tags = pickEach(random, offeringTagShares);
  if (themes.includes("1031_exchange_dst") && chance(random, 0.2)) tags.push("dst");
  if (themes.includes("opportunity_zones") && chance(random, 0.12)) tags.push("qof");
  if (tags.includes("reg_d_506b") && chance(random, 0.1)) tags.push("non_accredited_allowed");
  if (fileCount === 1 && chance(random, 0.5)) tags.push("first_time_filer");
  if (fileCount >= 4) tags.push("serial_filer");
  return tags;
}

// Newer than the newest `aum_as_of`.
const updatedDays = 140;

/** What of a GP a source would tell. */
function gpRecordOf(
  random: Random,
  number: number,
  gp: InventedGp,
  gpName: GpName,
  externalIds: ExternalIds,
): CanonicalGp {
  const record: CanonicalGp = {
    record: "gp",
    id: gp.id,
    name: gp.name,
    legal_name: inventLegalName(random, gpName),
    aliases: someAliases(random, number, gpName),
    description: someDescription(random, gp),
    website: gp.host === null ? null : `https://${gp.host}`,
    hq_city: gp.city.name,
    hq_state: gp.city.state,
    hq_country: gp.city.country,
    founded_year: chance(random, 0.7) ? gp.foundedYear : null,
    aum_usd: null,
    aum_as_of: null,
    raised_to_date_usd: null,
    strategies: gp.strategies,
    property_types: gp.propertyTypes,
    tags: gp.tags,
    themes: gp.themes,
    markets: gp.metros.map(({ title }) => title),
    external_ids: externalIds,
    updated_at: someTime(random, recentDay(random, updatedDays)),
  };
  addAmounts(random, gp, record);
  if (chance(random, 0.12)) record.provenance = someProvenance(random);
  return record;
}

function someAliases(random: Random, number: number, { name, stem, latin }: GpName): string[] {
  const share = random();
  const count = Math.floor(share * share * (number <= largeCount ? 9 : 4));
  const given = latin === name ? [] : [latin];
  const aliases = drawMore(given, count, () => inventManager(random, stem));
  if (chance(random, 0.05)) aliases.push(shortName(latin));
  return trimmed(aliases);
}

/** `Northwind Residential Partners` → `NRP Group`. */
const shortName = (latin: string): string =>
  `${(latin.match(/(?<![^ ])[\p{L}\p{N}]/gu) ?? []).join("")} Group`;

/** A sentence or two on what the GP does; null for most, since few sources describe a firm. */
function someDescription(random: Random, gp: InventedGp): string | null {
  if (chance(random, 0.65)) return null;
  const gaps: Readonly<Record<string, string>> = {
    name: gp.name,
    city: gp.city.name,
    year: String(gp.foundedYear),
    property: words.properties[gp.propertyTypes[0] ?? "unknown"].called,
    market: (gp.metros[0]?.cities[0] ?? gp.city).name,
  };
  const opening = fill(pick(random, words.descriptionOpenings), (gap) => gaps[gap] as string);
  return chance(random, 0.5) ? opening : `${opening} ${pick(random, words.descriptionClosings)}`;
}

const quarterEnds = [dayOf(lastYear - 1, 12, 31), dayOf(lastYear, 3, 31), dayOf(lastYear, 6, 30)];

function addAmounts(random: Random, gp: InventedGp, record: CanonicalGp): void {
  // Advisers have to disclose their assets; of the others fewer than half do.
  if (chance(random, gp.isAdviser ? 0.95 : 0.42)) {
    const oldYear = Math.max(gp.foundedYear, lastYear - whole(random, 2, 5));
    const day = chance(random, 0.9) ? pick(random, quarterEnds) : dayOf(oldYear, 12, 31);
    record.aum_usd = roundAmount(gp.scaleUsd);
    record.aum_as_of = dayText(day);
  }
  if (gp.formDFiles.length > 0 && chance(random, 0.8))
    record.raised_to_date_usd = Math.round(logNormal(random, gp.scaleUsd * 0.25, 0.5) / 50) * 50;
}

const someProvenance = weighted<Partial<Provenance>>([
  [{ basis: "related_entity", confidence: 0.8 }, 5],
  [{ basis: "cluster", confidence: 0.6 }, 4],
  [{ basis: "issuer_stem", confidence: 0.3 }, 2],
]);
