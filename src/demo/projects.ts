/** Invents projects that a GP buys, builds or offers shares of, with their place, size and progress. */
import type { CanonicalProject } from "#records/canonical.ts";
import {
  type InventedGp,
  type InventedProject,
  type ProjectType,
  type PropertyType,
  type Schedule,
  withNeighbours,
} from "./cast.ts";
import { dayText, lastDay, recentDay, roughDay, someTime } from "./dates.ts";
import { inventFrom, roundAmount } from "./names.ts";
import { type Metro, someCity, someMetro } from "./places.ts";
import {
  chance,
  logNormal,
  pick,
  pickEach,
  pickEarly,
  pickSome,
  startRandom,
  weightedKeys,
  whole,
  type Random,
} from "./random.ts";
import { inventSchedule } from "./schedules.ts";

import words from "./words.json" with { type: "json" };

interface Property {
  /** Key of a list in `buildingNames`. */
  names: string;
  /** Medians; missing if such a property is not measured that way. */
  units?: number;
  squareFeet?: number;
  /** Cost of one unit, else of a square foot, else of the whole. */
  costUsd: number;
  /** False for land and the like, which is bought and sold but not built. */
  isBuilt?: boolean;
}

const properties: Readonly<Record<PropertyType, Property>> = words.properties;
const buildingNames: Readonly<Record<string, readonly string[]>> = words.buildingNames;

/** Returns a function that invents one project after another, by number from 1, and adds each to its GPs. */
export function projectInventor(
  seed: number,
  gps: readonly InventedGp[],
): (number: number) => CanonicalProject {
  const random = startRandom(seed, "projects");
  return (number) => {
    const sponsors = someSponsors(random, gps);
    const project = inventProject(random, number, sponsors);
    for (const gp of sponsors) gp.projects.push(project);
    return project.record;
  };
}

const unknownSponsorShare = 0.005;
const jointShare = 0.12;

function someSponsors(random: Random, gps: readonly InventedGp[]): InventedGp[] {
  if (gps.length === 0 || chance(random, unknownSponsorShare)) return [];
  return withNeighbours(random, pickEarly(random, gps), chance(random, jointShare) ? 1 : 0);
}

function inventProject(
  random: Random,
  number: number,
  gps: readonly InventedGp[],
): InventedProject {
  const sponsor = gps[0];
  const { property_types, themes, strategies } = sponsor?.record ?? {
    property_types: ["mixed_use"] as const,
    themes: [],
    strategies: [],
  };
  const propertyType = pick(random, property_types);
  const property = properties[propertyType];
  const size = someSize(random, property);
  const type = someType(random, propertyType);
  const isOffering = type === "property_offering";
  const schedule = inventSchedule(random, type);
  const amountUsd = roundAmount(size.costUsd);
  const isHome = sponsor !== undefined && chance(random, 0.85);
  const metro = isHome ? pick(random, sponsor.metros) : someMetro(random);
  const city = someCity(random, metro);
  const name = inventFrom(random, pick(random, buildingNames[property.names]!));
  const record: InventedProject["record"] = {
    record: "project",
    id: `project-${number}`,
    name,
    type,
    property_type: propertyType,
    status: schedule.status,
    city: city.name,
    state: city.state,
    country: "US",
    market: metro.title,
    // A notice of an offering gives the sponsor's address, not the property's.
    ...(!isOffering || chance(random, 0.4)
      ? somePlace(random, name, metro, city.zipStart)
      : elsewhere),
    units: size.units,
    affordable_units: someAffordableUnits(random, propertyType, size.units),
    square_feet: size.squareFeet,
    total_amount_usd: isOffering || chance(random, 0.7) ? amountUsd : null,
    raised_amount_usd: isOffering
      ? Math.round(amountUsd * (schedule.status === "closed" ? 1 : random()))
      : null,
    ...datesOf(random, schedule),
    strategy: strategies.length > 0 && chance(random, 0.6) ? pick(random, strategies) : null,
    tags: someTags(random, type, gps.length),
    themes: pickSome(random, themes, 1),
    external_ids: {},
    gps: gps.map((gp) => gp.record.id),
  };
  // Real files have not reached these numbers.
  if (isOffering) record.external_ids.form_d_file = [`021-${800_000 + number}`];
  else if (type === "affordable_housing" && chance(random, 0.6))
    record.external_ids.hud_id = [`${city.state}X${String(number).padStart(7, "0")}`];
  return { record, gps, metro, city, schedule, amountUsd };
}

/** Returns a size and a cost that fit each other. */
function someSize(random: Random, { units, squareFeet, costUsd }: Property) {
  const factor = logNormal(random, 1, 0.6);
  const size = {
    units: units ? Math.max(2, Math.round(units * factor)) : null,
    squareFeet: squareFeet ? Math.max(1000, Math.round((squareFeet * factor) / 100) * 100) : null,
  };
  const counted = size.units ?? size.squareFeet ?? factor;
  return { ...size, costUsd: counted * logNormal(random, costUsd, 0.25) };
}

const someTypeOfBuilt = weightedKeys(words.typesOfBuilt);
const someTypeOfUnbuilt = weightedKeys(words.typesOfUnbuilt);

function someType(random: Random, propertyType: PropertyType): ProjectType {
  if (properties[propertyType].isBuilt === false) return someTypeOfUnbuilt(random);
  if (propertyType === "affordable_housing" && chance(random, 0.75)) return "affordable_housing";
  return someTypeOfBuilt(random);
}

function someTags(random: Random, type: ProjectType, gpCount: number): string[] {
  const tags = pickEach(random, words.siteTags);
  if (gpCount > 1) tags.push("joint_venture");
  if (type === "affordable_housing") tags.push(...pickEach(random, words.subsidyTags));
  if (type === "property_offering") tags.push(chance(random, 0.7) ? "reg_d_506b" : "reg_d_506c");
  return tags;
}

const elsewhere = {
  address: null,
  zip: null,
  market_basis: "issuer_address",
  latitude: null,
  longitude: null,
} as const;

const somePlace = (random: Random, name: string, metro: Metro, zipStart: string) =>
  ({
    // A property named after its address has that address.
    address: /^\d+ .+ Street$/.test(name)
      ? name
      : inventFrom(random, `{number} {street} ${pick(random, words.streetEnds)}`),
    zip: zipStart + String(whole(random, 1, 99)).padStart(2, "0"),
    market_basis: "property_address",
    latitude: near(random, metro.latitude),
    longitude: near(random, metro.longitude),
  }) as const;

/** Returns a coordinate within about 10 km, to four decimals. */
const near = (random: Random, degrees: number): number =>
  Math.round((degrees + (random() - 0.5) * 0.18) * 10_000) / 10_000;

/** Returns the dates, and the time of the source's last update, which follows the latest event. */
function datesOf(random: Random, { startDay, completionDay, firstSaleDay }: Schedule) {
  const days = [startDay, firstSaleDay, completionDay].map((day) => day ?? 0);
  const latestDay = Math.max(lastDay - 900, ...days.filter((day) => day <= lastDay));
  return {
    start_date: startDay === null ? null : roughDay(random, startDay),
    completion_date: completionDay === null ? null : roughDay(random, completionDay),
    first_sale_date: firstSaleDay === null ? null : dayText(firstSaleDay),
    updated_at: someTime(random, recentDay(random, lastDay - latestDay)),
  };
}

function someAffordableUnits(
  random: Random,
  propertyType: PropertyType,
  units: number | null,
): number | null {
  if (units === null) return null;
  if (propertyType === "affordable_housing")
    return chance(random, 0.6) ? units : Math.round(units * 0.8);
  return chance(random, 0.08) ? Math.round(units * 0.2) : null;
}
