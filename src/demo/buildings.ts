/** How properties of each type are called, how large they are and what they cost. */
import * as named from "./building-names.ts";
import { logNormal, weighted, type Random } from "./random.ts";
import type { PropertyType } from "./specialties.ts";
import type { Template } from "./templates.ts";

interface Building {
  names: readonly Template[];
  /** Medians; 0 where such a property is not counted so. */
  units: number;
  squareFeet: number;
  /** Of one unit, else of a square foot, else of the whole. */
  costUsd: number;
  /** Land and the like is bought and sold, not built. */
  isBuilt: boolean;
}

const building = (
  names: readonly Template[],
  units: number,
  squareFeet: number,
  costUsd: number,
  isBuilt = true,
): Building => ({ names, units, squareFeet, costUsd, isBuilt });

export const buildings: Readonly<Record<PropertyType, Building>> = {
  multifamily: building(named.apartments, 170, 0, 230_000),
  single_family_rental: building(named.homes, 90, 0, 290_000),
  build_to_rent: building(named.homes, 140, 0, 310_000),
  student_housing: building(named.campus, 190, 0, 210_000),
  senior_housing: building(named.care, 120, 0, 260_000),
  manufactured_housing: building(named.parks, 160, 0, 70_000),
  affordable_housing: building(named.apartments, 96, 0, 330_000),
  residential_other: building(named.homes, 40, 0, 350_000),
  industrial: building(named.sheds, 0, 210_000, 135),
  cold_storage: building(named.sheds, 0, 150_000, 240),
  industrial_outdoor_storage: building(named.yards, 0, 18_000, 420),
  office: building(named.offices, 0, 140_000, 260),
  medical_office: building(named.clinics, 0, 48_000, 370),
  life_science: building(named.labs, 0, 110_000, 640),
  retail: building(named.shops, 0, 95_000, 210),
  net_lease: building(named.shops, 0, 21_000, 290),
  hospitality: building(named.hotels, 0, 82_000, 310),
  self_storage: building(named.storage, 0, 74_000, 150),
  data_center: building(named.servers, 0, 180_000, 980),
  land: building(named.tracts, 0, 0, 9_000_000, false),
  farmland: building(named.farms, 0, 0, 7_000_000, false),
  parking: building(named.garages, 0, 90_000, 95),
  marina: building(named.docks, 0, 0, 14_000_000, false),
  mixed_use: building(named.blocks, 130, 160_000, 520_000),
  healthcare: building(named.clinics, 0, 60_000, 330),
  diversified: building(named.blocks, 0, 120_000, 220),
  unknown: building(named.blocks, 0, 0, 12_000_000, false),
};

export interface Size {
  units: number | null;
  squareFeet: number | null;
  costUsd: number;
}

const sizeSpread = 0.6;

/** Size and cost that fit each other. */
export function inventSize(random: Random, { units, squareFeet, costUsd }: Building): Size {
  const factor = logNormal(random, 1, sizeSpread);
  const unitCount = Math.max(2, Math.round(units * factor));
  const feet = Math.max(1000, Math.round((squareFeet * factor) / 100) * 100);
  const counted = units > 0 ? unitCount : squareFeet > 0 ? feet : factor;
  return {
    units: units > 0 ? unitCount : null,
    squareFeet: squareFeet > 0 ? feet : null,
    costUsd: counted * logNormal(random, costUsd, 0.25),
  };
}

/** Which kinds of project there are, for property that is built and for property that is not. */
export const someTypeOfBuilt = weighted([
  ["property_offering", 28],
  ["acquisition", 24],
  ["development", 29],
  ["rehabilitation", 13],
  ["adaptive_reuse", 4],
  ["other", 2],
] as const);
export const someTypeOfUnbuilt = weighted([
  ["property_offering", 45],
  ["acquisition", 50],
  ["other", 5],
] as const);
