/** Turns an invented project into its record: what of it a source would tell. */
import type { CanonicalProject } from "#records/canonical.ts";
import type { ExternalIds } from "#records/common.ts";
import type { Size } from "./buildings.ts";
import type { InventedProject } from "./cast.ts";
import { dayText, lastDay, recentDay, roughDay, someTime } from "./dates.ts";
import { chance, pick, whole, type Random } from "./random.ts";
import type { Strategy } from "./specialties.ts";
import { streetEnds, streets } from "./words.ts";

export function projectRecordOf(
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

/** A property called after its address has that address. */
const someAddress = (random: Random, name: string): string =>
  /^\d+ .+ Street$/.test(name) ? name : inventAddress(random);

const inventAddress = (random: Random): string =>
  `${whole(random, 1, 199) * (chance(random, 0.5) ? 1 : 25)} ${pick(random, streets)} ${pick(random, streetEnds)}`;

/** Within about ten kilometres, to four decimals. */
const near = (random: Random, degrees: number): number =>
  Math.round((degrees + (random() - 0.5) * 0.18) * 10_000) / 10_000;

function someAffordableUnits(
  random: Random,
  { propertyType }: InventedProject,
  { units }: Size,
): number | null {
  if (units === null) return null;
  if (propertyType === "affordable_housing")
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
