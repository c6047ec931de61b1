/** Invents projects: what a GP buys, builds or offers shares of, where, how large and how far on. */
import type { CanonicalProject } from "#records/canonical.ts";
import { roundAmount } from "./amounts.ts";
import { inventBuildingName } from "./building-names.ts";
import { buildings, inventSize, someTypeOfBuilt, someTypeOfUnbuilt } from "./buildings.ts";
import type { InventedGp, InventedProject, ProjectType } from "./cast.ts";
import { lastDay } from "./dates.ts";
import { trimmed } from "./lists.ts";
import { withNeighbours } from "./neighbours.ts";
import { someCity, someMetro } from "./places.ts";
import { projectRecordOf } from "./project-record.ts";
import {
  chance,
  gentlyFirst,
  pick,
  pickEach,
  pickSome,
  startRandom,
  whole,
  type Random,
} from "./random.ts";
import { inventSchedule } from "./schedules.ts";
import type { PropertyType } from "./specialties.ts";

/** Makes the function that invents project after project, by number from 1, and adds each to its GPs. */
export function projectInventor(
  seed: number,
  gps: readonly InventedGp[],
): (number: number) => CanonicalProject {
  const random = startRandom(seed, "projects");
  return (number) => {
    const sponsors = someSponsors(random, gps);
    const project = inventProject(random, number, sponsors);
    for (const gp of sponsors) gp.projects = gp.projects.concat(project.known);
    return project.record;
  };
}

const unknownSponsorShare = 0.005;
const jointShare = 0.12;

function someSponsors(random: Random, gps: readonly InventedGp[]): InventedGp[] {
  if (gps.length === 0 || chance(random, unknownSponsorShare)) return [];
  const gp = gps[gentlyFirst(random, gps.length)] as InventedGp;
  return withNeighbours(random, gp, chance(random, jointShare) ? 1 : 0);
}

function inventProject(
  random: Random,
  number: number,
  gps: readonly InventedGp[],
): { known: InventedProject; record: CanonicalProject } {
  const [sponsor] = gps;
  const propertyType = pick(random, sponsor?.propertyTypes ?? (["mixed_use"] as const));
  const building = buildings[propertyType];
  const size = inventSize(random, building);
  const metro =
    sponsor !== undefined && chance(random, 0.85)
      ? pick(random, sponsor.metros)
      : someMetro(random);
  const type = someType(random, propertyType);
  const isOffering = type === "property_offering";
  const { status, startDay, completionDay } = inventSchedule(random, type);
  const known: InventedProject = {
    id: `project-${number}`,
    name: inventBuildingName(random, building.names),
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
  return { known, record: projectRecordOf(random, number, known, size) };
}

function someType(random: Random, propertyType: PropertyType): ProjectType {
  if (!buildings[propertyType].isBuilt) return someTypeOfUnbuilt(random);
  if (propertyType === "affordable_housing" && chance(random, 0.75)) return "affordable_housing";
  return someTypeOfBuilt(random);
}

function someFirstSale(random: Random, startDay: number): number | null {
  const day = startDay + whole(random, 0, 30);
  return day <= lastDay && chance(random, 0.85) ? day : null;
}

const siteTagShares: readonly (readonly [string, number])[] = [
  ["opportunity_zone_site", 0.05],
  ["leed_certified", 0.05],
  ["transit_oriented", 0.06],
  ["infill", 0.08],
];
const subsidyShares: readonly (readonly [string, number])[] = [
  ["lihtc", 0.7],
  ["section_8", 0.3],
];

function someTags(random: Random, type: ProjectType, gpCount: number): string[] {
  const tags = pickEach(random, siteTagShares);
  if (gpCount > 1) tags.push("joint_venture");
  if (type === "affordable_housing") tags.push(...pickEach(random, subsidyShares));
  if (type === "property_offering") tags.push(chance(random, 0.7) ? "reg_d_506b" : "reg_d_506c");
  return trimmed(tags);
}
