/** Invents GPs, numbered by prominence: the first have the most money, people, projects and signals. */
import type { ExternalIds } from "#records/common.ts";
import type { InventedGp, PropertyType } from "./cast.ts";
import { dayOf, dayText, lastYear, recentDay, someTime } from "./dates.ts";
import {
  hostOf,
  inventLegalName,
  inventManager,
  inventName,
  type GpName,
  fill,
  roundAmount,
} from "./names.ts";
import { citiesAbroad, metros, someCity, someMetro, type Metro } from "./places.ts";
import {
  chance,
  drawMore,
  logNormal,
  pick,
  pickEach,
  pickSome,
  startRandom,
  weighted,
  weightedKeys,
  whole,
  type Random,
} from "./random.ts";

import words from "./words.json" with { type: "json" };

/** A kind of GP: the property it buys, how it earns, and the words in its name. */
interface Specialty {
  weight: number;
  /** Property that all GPs of the kind buy, and property that some buy, too. */
  main: PropertyType[];
  also: PropertyType[];
  /** Words that a name may contain; none for GPs without a sector. */
  nameWords: string[];
  themes: string[];
  lends?: boolean;
}

const specialties = words.specialties as Specialty[];
/** Draws a specialty; apartments come up most. */
const someSpecialty = weighted(specialties.map((one) => [one, one.weight]));
const someStrategy = weightedKeys(words.strategies);

/** Number of large GPs, which have more markets, names and files. */
const largeCount = 200;
// All updates are newer than the newest `aum_as_of`.
const updatedDays = 140;

/** Returns a function that invents one GP after another, by number from 1. */
export function gpInventor(seed: number): (number: number) => InventedGp {
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
    const abroad = chance(random, 0.5) ? citiesAbroad.get(gpName.country) : undefined;
    const city = abroad ?? someCity(random, home);
    const places = few(random, isLarge ? 8 : 4);
    const inMetros = drawMore([home], places, () => someMetro(random));
    const scaleUsd = logNormal(random, 120e6 * (1 + 2400 / (60 + number)), 1.2);
    // Founded between seventy years ago and last year.
    const foundedYear = lastYear - 1 - few(random, 70);
    const strategies = [specialty.lends ? "debt" : someStrategy(random)];
    const record: InventedGp["record"] = {
      record: "gp",
      id: `gp-${number}`,
      name: gpName.name,
      legal_name: inventLegalName(random, gpName),
      aliases: someAliases(random, gpName, few(random, isLarge ? 9 : 4)),
      description: null,
      website: chance(random, 0.6) ? `https://${hostOf(gpName)}` : null,
      hq_city: city.name,
      hq_state: city.state,
      hq_country: city.country,
      founded_year: chance(random, 0.7) ? foundedYear : null,
      ...someAssets(random, scaleUsd, externalIds),
      strategies: drawMore(strategies, chance(random, 0.35) ? 1 : 0, () => someStrategy(random)),
      property_types: [...specialty.main, ...pickSome(random, specialty.also, whole(random, 0, 2))],
      tags,
      themes: pickSome(random, specialty.themes, whole(random, 0, 2)),
      markets: inMetros.map(({ title }) => title),
      external_ids: externalIds,
      updated_at: someTime(random, recentDay(random, updatedDays)),
    };
    if (chance(random, 0.12)) record.provenance = { basis: "related_entity", confidence: 0.8 };
    const { stem } = gpName;
    const metrosOfGp = { city, metros: inMetros, neighbours };
    const gp = { record, stem, ...metrosOfGp, scaleUsd, foundedYear, people: [], projects: [] };
    record.description = someDescription(random, gp);
    neighbours.push(gp);
    return gp;
  };
}

/** Returns a whole number below `count`; smaller ones are more likely. */
const few = (random: Random, count: number): number => Math.floor(random() ** 2 * count);

// Two firms with one name do exist, and the service has to tell them apart.
const sharedNameShare = 0.01;

function freeName(random: Random, specialty: Specialty, names: Set<string>): GpName {
  let gpName = inventName(random, specialty);
  while (names.has(gpName.name) && !chance(random, sharedNameShare))
    gpName = inventName(random, specialty);
  names.add(gpName.name);
  return gpName;
}

// Real numbers have not come this far, so none of these belongs to anybody.
const formDFileStart = 900_001;
const cikStart = 9_000_001;
const crdStart = 9_900_000;
const secNumberStart = 900_000;

/**
 * Invents a GP's filings: its numbers at the authorities, and the facts that go with them.
 * @param number number of the GP, from 1.
 * @param filed Form D files of all earlier GPs, which makes this GP's numbers unique.
 */
function inventFilings(random: Random, number: number, filed: number, isLarge: boolean) {
  const externalIds: ExternalIds = {};
  const tags: string[] = [];
  if (chance(random, 0.68)) {
    const files = Array.from({ length: 1 + few(random, isLarge ? 16 : 5) }, (_, at) => filed + at);
    externalIds.cik = files.map((file) => String(cikStart + file).padStart(10, "0"));
    externalIds.form_d_file = files.map((file) => `021-${formDFileStart + file}`);
    tags.push(...pickEach(random, words.offeringTags));
    if (files.length === 1 && chance(random, 0.5)) tags.push("first_time_filer");
    if (files.length >= 4) tags.push("serial_filer");
  }
  if (chance(random, 0.34)) {
    const isRegistered = chance(random, 0.6);
    externalIds.crd = [String(crdStart + number)];
    externalIds.sec_number = [`${isRegistered ? 801 : 802}-${secNumberStart + number}`];
    tags.push(isRegistered ? "registered_adviser" : "exempt_reporting_adviser");
  }
  return { externalIds, tags };
}

const someAliases = (random: Random, { name, stem, latin }: GpName, count: number): string[] =>
  drawMore(latin === name ? [] : [latin], count, () => inventManager(random, stem));

const quarterEnds = [dayOf(lastYear - 1, 12, 31), dayOf(lastYear, 3, 31), dayOf(lastYear, 6, 30)];

function someAssets(random: Random, scaleUsd: number, { crd, form_d_file }: ExternalIds) {
  // Advisers have to disclose their assets; fewer than half of the others do.
  const isTold = chance(random, crd === undefined ? 0.42 : 0.95);
  const isRaised = form_d_file !== undefined && chance(random, 0.8);
  return {
    aum_usd: isTold ? roundAmount(scaleUsd) : null,
    aum_as_of: isTold ? dayText(pick(random, quarterEnds)) : null,
    raised_to_date_usd: isRaised ? Math.round(logNormal(random, scaleUsd * 0.25, 0.5)) : null,
  };
}

/** Returns a sentence or two about the GP. Returns null for most, because few sources describe a firm. */
function someDescription(random: Random, gp: InventedGp): string | null {
  if (chance(random, 0.65)) return null;
  const gaps: Readonly<Record<string, string>> = {
    name: gp.record.name,
    city: gp.city.name,
    year: String(gp.foundedYear),
    property: words.properties[gp.record.property_types[0] ?? "unknown"].called,
    market: (gp.metros[0]?.cities[0] ?? gp.city).name,
  };
  const opening = fill(pick(random, words.descriptionOpenings), (gap) => gaps[gap]!);
  return chance(random, 0.5) ? opening : `${opening} ${pick(random, words.descriptionClosings)}`;
}
