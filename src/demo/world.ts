/** The world of invented records: places, days, names, and facts about earlier records that later ones need. */
import type { CanonicalGp, CanonicalProject } from "#records/canonical.ts";
import type * as vocabulary from "#records/vocabulary.ts";
import places from "./places.json" with { type: "json" };
import { drawMore, type Random } from "./random.ts";
import words from "./words.json" with { type: "json" };

/**
 * A core-based statistical area, with its title as the Census Bureau listed it in 2015. Its latitude and longitude, in
 * degrees, are accurate to about 1 km.
 */
export type Metro = (typeof metros)[number];

interface City {
  name: string;
  /** State as two letters; null abroad. */
  state: string | null;
  /** Country as two letters (ISO 3166). */
  country: string;
  /** First three digits of its ZIP codes; empty abroad. */
  zipStart: string;
}

/** All areas, the most likely first. */
export const metros = places.metros.map((metro) => ({
  ...metro,
  cities: metro.cities.map(([name = "", state = "", zipStart = ""]): City => {
    return { name, state, country: "US", zipStart };
  }),
}));

export const someMetro = (random: Random): Metro => random.pickEarly(metros, 5);

/** Draws a city in an area. The first is drawn at least 30% of the time. */
export const someCity = (random: Random, { cities }: Metro): City => random.pickEarly(cities, 5);

const dayMilliseconds = 86_400_000;

/** Returns a day as the number of days since 1 January 1970. */
export const dayOf = (year: number, month = 1, day = 1): number =>
  Date.UTC(year, month - 1, day) / dayMilliseconds;

/** Latest day of past events; planned events may be later. */
export const lastDay = dayOf(2026, 11, 20);
export const lastYear = 2026;

/** Returns a day as `YYYY-MM-DD`. */
export const dayText = (day: number): string =>
  new Date(day * dayMilliseconds).toISOString().slice(0, 10);

/** Returns a day with the precision a source may have: `YYYY-MM-DD`, `YYYY-MM` or `YYYY`. */
export function roughDay(random: Random, day: number): string {
  const text = dayText(day);
  if (random.chance(0.4)) return text;
  return random.chance(0.6) ? text.slice(0, 7) : text.slice(0, 4);
}

/** Returns a random minute of a day, `YYYY-MM-DDThh:mm:00Z`. */
export const someTime = (random: Random, day: number): string =>
  new Date(day * dayMilliseconds + random.whole(0, 1439) * 60_000)
    .toISOString()
    .replace(".000", "");

/** Draws one of the last `spanDays` days; later ones are more likely. */
export const recentDay = (random: Random, spanDays: number): number =>
  lastDay - Math.floor(random.next() ** 3 * spanDays);

type ProjectStatus = (typeof vocabulary.projectStatuses)[number];
export type ProjectType = (typeof vocabulary.projectTypes)[number];
export type PropertyType = (typeof vocabulary.propertyTypes)[number];
export type SignalType = (typeof vocabulary.signalTypes)[number];

type With<T, K extends keyof T> = T & Required<Pick<T, K>>;

export interface InventedGp {
  record: With<
    CanonicalGp,
    "property_types" | "strategies" | "tags" | "themes" | "external_ids" | "website"
  >;
  /** Name without sector and ending. Names of the GP's funds contain it. */
  stem: string;
  city: City;
  /** Areas where the GP buys, its home area first; never empty. */
  metros: readonly Metro[];
  /** All GPs with the same home area, including this one. */
  neighbours: readonly InventedGp[];
  /** Assets under management, disclosed or not. */
  scaleUsd: number;
  foundedYear: number;
  people: { name: string; title: string }[];
  projects: InventedProject[];
}

export interface InventedProject {
  record: With<
    CanonicalProject,
    "type" | "property_type" | "status" | "tags" | "themes" | "external_ids"
  >;
  gps: readonly InventedGp[];
  metro: Metro;
  city: City;
  schedule: Schedule;
  amountUsd: number;
}

/** A project's status and days. A day is counted as in `dayOf`. It is null if unknown or not set yet. */
export interface Schedule {
  status: ProjectStatus;
  startDay: number | null;
  completionDay: number | null;
  /** Day of the first sale of a share; only offerings have one. */
  firstSaleDay: number | null;
}

/** Returns the GPs of a shared record: the given one, and up to `others` more from its home area. */
export const withNeighbours = (random: Random, gp: InventedGp, others: number): InventedGp[] =>
  drawMore([gp], others, () => random.pickEarly(gp.neighbours));

const lists: Readonly<Record<string, readonly string[]>> = words.lists;
const letters = "BCDFGHJKLMNPRSTVW";

/** Fills the gaps in a pattern such as `{tree} {landform}`. @param stem name for the gap `stem` in fund names. */
export const inventFrom = (random: Random, pattern: string, stem = ""): string =>
  fill(pattern, (gap) => {
    switch (gap) {
      case "stem":
        return stem;
      case "compound":
        return random.pickEarly(words.compoundHeads) + random.pickEarly(words.compoundTails);
      case "letter":
        return letters[random.whole(0, letters.length - 1)]!;
      case "number":
        return String(random.whole(2, 99));
      case "numeral":
        return random.pickEarly(words.numerals, 3);
      case "phase":
        // Most properties have no phase number.
        return random.chance(0.7) ? "" : words.numerals[random.whole(0, 3)]!;
      default:
        return random.pick(lists[gap]!);
    }
  }).trimEnd();

/** Fills the gaps in a sentence, such as `{gp} buys {project}`, from left to right. */
export const fill = (sentence: string, say: (gap: string) => string): string =>
  sentence.replace(/\{(\w+)\}/g, (_, gap: string) => say(gap));

/** Rounds to three significant digits: 48,137,522 becomes 48,100,000. */
export const roundAmount = (value: number): number => Number(value.toPrecision(3));
