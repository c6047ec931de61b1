/** What a signal is about: a market, an event of a project, or something a GP does. */
import type { InventedGp, InventedProject } from "./cast.ts";
import { dayOf, lastDay, recentDay } from "./dates.ts";
import type { ProjectEvent } from "./events.ts";
import { someGpStory } from "./gp-story-choice.ts";
import { withNeighbours } from "./neighbours.ts";
import { someMetro, type Metro } from "./places.ts";
import { projectStories } from "./project-stories.ts";
import { chance, pick, pickSome, type Random } from "./random.ts";
import type { PropertyType } from "./specialties.ts";
import { marketStory, type Story } from "./stories.ts";

/** How far back the press goes, in days. */
const pastDays = 4000;

export interface Occasion {
  story: Story;
  day: number;
  gps: readonly InventedGp[];
  projects: readonly InventedProject[];
  /** What the story's share is a share of. */
  baseUsd: number;
  metro: Metro;
  city: string;
  propertyTypes: PropertyType[];
  themes: string[];
}

/** What is let by the month or the year, so that it has rents and vacancy. */
const letTypes: readonly PropertyType[] = [
  "multifamily",
  "single_family_rental",
  "build_to_rent",
  "student_housing",
  "senior_housing",
  "industrial",
  "cold_storage",
  "office",
  "medical_office",
  "life_science",
  "retail",
  "self_storage",
  "data_center",
];

const cityOf = ({ cities: [city] }: Metro): string => city?.name ?? "";

export function marketOccasion(random: Random): Occasion {
  const metro = someMetro(random);
  return {
    story: marketStory,
    day: recentDay(random, pastDays),
    gps: [],
    projects: [],
    baseUsd: 0,
    metro,
    city: cityOf(metro),
    propertyTypes: [pick(random, letTypes)],
    themes: [],
  };
}

export function projectOccasion(project: InventedProject, { type, day }: ProjectEvent): Occasion {
  return {
    story: projectStories.get(type) as Story,
    day,
    gps: project.gps,
    projects: [project],
    baseUsd: project.amountUsd,
    metro: project.metro,
    city: project.city.name,
    propertyTypes: [project.propertyType],
    themes: project.themes,
  };
}

const jointDealShare = 0.08;

export function gpOccasion(random: Random, gp: InventedGp): Occasion {
  const story = someGpStory(random, gp);
  const metro = pick(random, gp.metros);
  const isDeal = story.voice === "deal" && story.type !== "fund_close";
  return {
    story,
    day: recentDay(random, Math.min(pastDays, lastDay - dayOf(gp.foundedYear))),
    gps: isDeal ? withNeighbours(random, gp, chance(random, jointDealShare) ? 1 : 0) : [gp],
    projects: story.type === "financing" && chance(random, 0.3) ? someHoldings(random, gp) : [],
    baseUsd: gp.scaleUsd,
    metro,
    city: cityOf(metro),
    propertyTypes: pickSome(random, gp.propertyTypes, 1),
    themes: pickSome(random, gp.themes, 1),
  };
}

/** What one loan may cover: up to three properties the GP owns. */
function someHoldings(random: Random, { projects }: InventedGp): InventedProject[] {
  const owned = projects.filter(({ status }) => status === "closed" || status === "completed");
  return pickSome(random, owned, 3);
}
