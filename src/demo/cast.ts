/** Invented GPs and projects, with the facts that later records need. */
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
  /** Name without sector and ending; its funds are named after it. */
  stem: string;
  city: City;
  /** Areas where it buys, its own first; never empty. */
  metros: readonly Metro[];
  /** All GPs of its own area, including itself. */
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

/** Days of a project, as in dates.ts; null if unknown or not set yet. */
export interface Schedule {
  status: ProjectStatus;
  startDay: number | null;
  completionDay: number | null;
  /** Day of the first sale of a share; only offerings have one. */
  firstSaleDay: number | null;
}

/** Returns the GP and up to `others` different GPs of its area, which share a record. */
export const withNeighbours = (random: Random, gp: InventedGp, others: number): InventedGp[] =>
  drawMore([gp], others, () => pickEarly(random, gp.neighbours));
