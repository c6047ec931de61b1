/** What later records need to know of the GPs and projects invented before them. */
import type { projectStatuses, projectTypes } from "#records/vocabulary.ts";
import type { City, Metro } from "./places.ts";
import type { PropertyType, Strategy } from "./specialties.ts";

export interface InventedGp {
  id: string;
  name: string;
  /** The name without sector and ending, which funds are called after. */
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
  /** What it manages, told or not. */
  scaleUsd: number;
  foundedYear: number;
  /** Host of its website and mail; null where none is known. */
  host: string | null;
  people: readonly { name: string; title: string }[];
  projects: readonly InventedProject[];
}

export type ProjectType = (typeof projectTypes)[number];
export type ProjectStatus = (typeof projectStatuses)[number];

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
