/** What later records need to know of the GPs and projects invented before them. */
import type { CanonicalGp, CanonicalProject } from "#records/canonical.ts";
import type * as vocabulary from "#records/vocabulary.ts";
import type { City, Metro } from "./places.ts";
import { drawMore, pickEarly, type Random } from "./random.ts";

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
  /** The name without sector and ending; its funds are named after it. */
  stem: string;
  city: City;
  /** Where it buys, its own area first; never empty. */
  metros: readonly Metro[];
  /** All GPs of its own area, itself among them. */
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

/** Days as in dates.ts; null where unknown or not yet set. */
export interface Schedule {
  status: ProjectStatus;
  startDay: number | null;
  completionDay: number | null;
  /** Day of the first sale of a share; only offerings have one. */
  firstSaleDay: number | null;
}

/** The GP and up to `others` different ones of its area, who share a record. */
export const withNeighbours = (random: Random, gp: InventedGp, others: number): InventedGp[] =>
  drawMore([gp], others, () => pickEarly(random, gp.neighbours));
