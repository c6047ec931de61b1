/** Invents projects: what a GP buys, builds or offers shares of, where, how large and how far on. */
import type { CanonicalProject } from "#records/canonical.ts";
import type { ExternalIds } from "#records/common.ts";
import {
  withNeighbours,
  type InventedGp,
  type InventedProject,
  type ProjectType,
  type PropertyType,
  type Strategy,
} from "./cast.ts";
import { dayText, lastDay, recentDay, roughDay, someTime } from "./dates.ts";
import { someCity, someMetro } from "./places.ts";
import {
  chance,
  logNormal,
  pick,
  pickEach,
  pickEarly,
  pickSome,
  startRandom,
  trimmed,
  weightedKeys,
  whole,
  type Random,
} from "./random.ts";
import { inventSchedule } from "./schedules.ts";
import { fill, roundAmount } from "./text.ts";
import words from "./words.json" with { type: "json" };

/** Makes the function that invents project after project, by number from 1, and adds each to its GPs. */
export function projectInventor(
  seed: number,
  gps: readonly InventedGp[],
): (number: number) => CanonicalProject {
  const random = startRandom(seed, "projects");
  return (number) => {
    const sponsors = someSponsors(random, gps);
    const { project, record } = inventProject(random, number, sponsors);
    for (const gp of sponsors) gp.projects = gp.projects.concat(project);
    return record;
  };
}

const unknownSponsorShare = 0.005;
const jointShare = 0.12;

function someSponsors(random: Random, gps: readonly InventedGp[]): InventedGp[] {
  if (gps.length === 0 || chance(random, unknownSponsorShare)) return [];
  return withNeighbours(random, pickEarly(random, gps), chance(random, jointShare) ? 1 : 0);
}

function inventProject(random: Random, number: number, gps: readonly InventedGp[]) {
  const [sponsor] = gps;
  const propertyType = pick(random, sponsor?.propertyTypes ?? (["mixed_use"] as const));
  const property = properties[propertyType];
  const size = someSize(random, property);
  const metro =
    sponsor !== undefined && chance(random, 0.85)
      ? pick(random, sponsor.metros)
      : someMetro(random);
  const type = someType(random, propertyType);
  const isOffering = type === "property_offering";
  const { status, startDay, completionDay } = inventSchedule(random, type);
  const project: InventedProject = {
    id: `project-${number}`,
    name: someName(random, property),
    gps,
    type,
    propertyType,
    metro,
    city: someCity(random, metro),
    amountUsd: roundAmount(size.costUsd),
    themes: pickSome(random, sponsor?.themes ?? [], 1),
    tags: someTags(random, type, gps.length),
    status,
    startDay,
    completionDay,
    firstSaleDay: isOffering && startDay !== null ? someFirstSale(random, startDay) : null,
    // Beyond the numbers that real files have reached.
    formDFile: isOffering ? `021-${800_000 + number}` : null,
  };
  return { project, record: projectRecordOf(random, number, project, size) };
}

interface Property {
  /** Which list of `buildingNames`. */
  names: string;
  /** Medians; missing where such a property is not counted so. */
  units?: number;
  squareFeet?: number;
  /** Of one unit, else of a square foot, else of the whole. */
  costUsd: number;
  /** False for land and the like, which is bought and sold, not built. */
  isBuilt?: boolean;
}

const properties: Readonly<Record<PropertyType, Property>> = words.properties;

interface Size {
  units: number | null;
  squareFeet: number | null;
  costUsd: number;
}

/** Size and cost that fit each other. */
function someSize(random: Random, { units = 0, squareFeet = 0, costUsd }: Property): Size {
  const factor = logNormal(random, 1, 0.6);
  const unitCount = Math.max(2, Math.round(units * factor));
  const feet = Math.max(1000, Math.round((squareFeet * factor) / 100) * 100);
  const counted = units > 0 ? unitCount : squareFeet > 0 ? feet : factor;
  return {
    units: units > 0 ? unitCount : null,
    squareFeet: squareFeet > 0 ? feet : null,
    costUsd: counted * logNormal(random, costUsd, 0.25),
  };
}

const namesOfKinds: Readonly<Record<string, readonly string[]>> = words.buildingNames;
const nameWords: Readonly<Record<string, (random: Random) => string>> = {
  animal: (random) => pick(random, words.animals),
  compound: (random) => pick(random, words.compoundHeads) + pick(random, words.compoundTails),
  landform: (random) => pick(random, words.landforms),
  number: (random) => String(whole(random, 1, 999)),
  // Most are the only building of their name.
  numeral: (random) => (chance(random, 0.7) ? "" : (words.numerals[whole(random, 0, 3)] as string)),
  quarter: (random) => pick(random, words.quarters),
  street: (random) => pick(random, words.streets),
  tree: (random) => pick(random, words.trees),
};

/** `The Alder at Mueller`, `Sunset Logistics Center II`. */
function someName(random: Random, { names }: Property): string {
  const pattern = pick(random, namesOfKinds[names] as readonly string[]);
  return fill(pattern, (gap) => (nameWords[gap] as (random: Random) => string)(random)).trimEnd();
}

const someTypeOfBuilt = weightedKeys(words.typesOfBuilt);
const someTypeOfUnbuilt = weightedKeys(words.typesOfUnbuilt);

function someType(random: Random, propertyType: PropertyType): ProjectType {
  if (properties[propertyType].isBuilt === false) return someTypeOfUnbuilt(random);
  if (propertyType === "affordable_housing" && chance(random, 0.75)) return "affordable_housing";
  return someTypeOfBuilt(random);
}

function someFirstSale(random: Random, startDay: number): number | null {
  const day = startDay + whole(random, 0, 30);
  return day <= lastDay && chance(random, 0.85) ? day : null;
}

const siteTagShares = Object.entries(words.siteTags);
const subsidyTagShares = Object.entries(words.subsidyTags);

function someTags(random: Random, type: ProjectType, gpCount: number): string[] {
  const tags = pickEach(random, siteTagShares);
  if (gpCount > 1) tags.push("joint_venture");
  if (type === "affordable_housing") tags.push(...pickEach(random, subsidyTagShares));
  if (type === "property_offering") tags.push(chance(random, 0.7) ? "reg_d_506b" : "reg_d_506c");
  return trimmed(tags);
}

/** What of a project a source would tell. */
function projectRecordOf(
  random: Random,
  number: number,
  project: InventedProject,
  size: Size,
): CanonicalProject {
  const isOffering = project.type === "property_offering";
  // A notice of an offering gives the sponsor's address, not the property's.
  const isPlaced = !isOffering || chance(random, 0.4);
  const { startDay, completionDay, city, metro } = project;
  return {
    record: "project",
    id: project.id,
    name: project.name,
    type: project.type,
    property_type: project.propertyType,
    status: project.status,
    address: isPlaced ? someAddress(random, project.name) : null,
    city: city.name,
    state: city.state,
    zip: isPlaced ? city.zipStart + String(whole(random, 1, 99)).padStart(2, "0") : null,
    country: "US",
    market: metro.title,
    market_basis: isPlaced ? "property_address" : "issuer_address",
    latitude: isPlaced ? near(random, metro.latitude) : null,
    longitude: isPlaced ? near(random, metro.longitude) : null,
    units: size.units,
    affordable_units: someAffordableUnits(random, project, size),
    square_feet: size.squareFeet,
    total_amount_usd: isOffering || chance(random, 0.7) ? project.amountUsd : null,
    raised_amount_usd: someRaisedAmount(random, project),
    start_date: startDay === null ? null : roughDay(random, startDay),
    completion_date: completionDay === null ? null : roughDay(random, completionDay),
    first_sale_date: project.firstSaleDay === null ? null : dayText(project.firstSaleDay),
    strategy: someStrategy(random, project),
    tags: project.tags,
    themes: project.themes,
    external_ids: someExternalIds(random, number, project),
    gps: project.gps.map(({ id }) => id),
    updated_at: someTime(random, recentDay(random, lastDay - latestDay(project))),
  };
}

/** The last day on which something happened that the record tells. */
function latestDay({ startDay, firstSaleDay, completionDay }: InventedProject): number {
  const past = [startDay, firstSaleDay, completionDay].filter(
    (day) => day !== null && day <= lastDay,
  );
  return Math.max(lastDay - 900, ...(past as number[]));
}

function someStrategy(random: Random, { gps: [gp] }: InventedProject): Strategy | null {
  return gp !== undefined && chance(random, 0.6) ? pick(random, gp.strategies) : null;
}

/** A property named after its address has that address. */
function someAddress(random: Random, name: string): string {
  if (/^\d+ .+ Street$/.test(name)) return name;
  const number = whole(random, 1, 199) * (chance(random, 0.5) ? 1 : 25);
  return `${number} ${pick(random, words.streets)} ${pick(random, words.streetEnds)}`;
}

/** Within about ten kilometres, to four decimals. */
const near = (random: Random, degrees: number): number =>
  Math.round((degrees + (random() - 0.5) * 0.18) * 10_000) / 10_000;

function someAffordableUnits(random: Random, project: InventedProject, size: Size): number | null {
  const { units } = size;
  if (units === null) return null;
  if (project.propertyType === "affordable_housing")
    return chance(random, 0.6) ? units : Math.round(units * 0.8);
  return chance(random, 0.08) ? Math.round(units * 0.2) : null;
}

function someRaisedAmount(random: Random, project: InventedProject): number | null {
  if (project.type !== "property_offering") return null;
  if (project.status === "closed") return project.amountUsd;
  return Math.round((project.amountUsd * random()) / 50) * 50;
}

function someExternalIds(random: Random, number: number, project: InventedProject): ExternalIds {
  const { type, city, formDFile } = project;
  if (formDFile !== null) return { form_d_file: [formDFile] };
  if (type === "affordable_housing" && chance(random, 0.6))
    return { hud_id: [`${city.state}X${String(number).padStart(7, "0")}`] };
  return {};
}
