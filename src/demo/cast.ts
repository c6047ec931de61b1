/** What later records need to know of the GPs and projects invented before them. */
import type * as vocabulary from "#records/vocabulary.ts";
import type { City, Metro } from "./places.ts";
import { drawMore, pickEarly, type Random } from "./random.ts";

export type ProjectStatus = (typeof vocabulary.projectStatuses)[number];
export type ProjectType = (typeof vocabulary.projectTypes)[number];
export type PropertyType = (typeof vocabulary.propertyTypes)[number];
export type SignalType = (typeof vocabulary.signalTypes)[number];
export type Strategy = (typeof vocabulary.strategies)[number];

export interface InventedGp {
  id: string;
  name: string;
  /** The name without sector and ending; its funds are named after it. */
  stem: string;
  city: City;
  /** Where it buys, its own area first; never empty. */
  metros: readonly Metro[];
  /** All GPs of its own area, itself among them. */
  neighbours: readonly InventedGp[];
  propertyTypes: PropertyType[];
  strategies: Strategy[];
  tags: string[];
  themes: string[];
  formDFiles: readonly string[];
  isAdviser: boolean;
  /** Assets under management, disclosed or not. */
  scaleUsd: number;
  foundedYear: number;
  /** Host of its website and mail; null where none is known. */
  host: string | null;
  people: readonly { name: string; title: string }[];
  projects: readonly InventedProject[];
}

export interface InventedProject {
  id: string;
  name: string;
  gps: readonly InventedGp[];
  type: ProjectType;
  propertyType: PropertyType;
  status: ProjectStatus;
  metro: Metro;
  city: City;
  /** Days as in dates.ts; null where unknown or not yet set. */
  startDay: number | null;
  completionDay: number | null;
  /** Day of the first sale of a share; only offerings have one. */
  firstSaleDay: number | null;
  /** Number of its own notice; only offerings have one. */
  formDFile: string | null;
  amountUsd: number;
  tags: string[];
  themes: string[];
}

/** The GP and up to `others` different ones of its area, who share a record. */
export const withNeighbours = (random: Random, gp: InventedGp, others: number): InventedGp[] =>
  drawMore([gp], others, () => pickEarly(random, gp.neighbours));
