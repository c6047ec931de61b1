/** Invents signals of what GPs file, buy, build and announce. Most are recent, and most are by few GPs. */
import type { CanonicalSignal } from "#records/canonical.ts";
import type { amountBases } from "#records/vocabulary.ts";
import {
  withNeighbours,
  type InventedGp,
  type InventedProject,
  type PropertyType,
  type SignalType,
} from "./cast.ts";
import { dayOf, dayText, lastDay, recentDay, roughDay, someTime } from "./dates.ts";
import { inventVehicle, amountWords, fill, roundAmount } from "./names.ts";
import { someMetro, type Metro } from "./places.ts";
import {
  chance,
  logNormal,
  pick,
  pickEarly,
  pickSome,
  startRandom,
  weighted,
  whole,
  type Random,
} from "./random.ts";
import { eventsOf, type ProjectEvent } from "./schedules.ts";

import words from "./words.json" with { type: "json" };

/** Content of one kind of signal. */
interface Story {
  /** Source: a notice of an offering, an adviser's report, or the press about a deal, a site, people or a market. */
  voice: keyof typeof words.remarks;
  /** Meaning of the amount; missing if there is none. */
  basis?: (typeof amountBases)[number];
  /** Amount as a share of the GP's assets or the project's cost; below zero for a fall. */
  share?: number;
  /** Headlines with the amount, and headlines without; at least one list is there. */
  counted?: string[];
  plain?: string[];
}

interface GpStory extends Story {
  type: SignalType;
  weight: number;
}

const gpStories = words.gpStories as GpStory[];
const someGpStory = weighted(gpStories.map((one) => [one, one.weight]));
const projectStories = words.projectStories as Partial<Record<SignalType, Story>>;
const marketStory = words.marketStory as Story;
/** Types of property that are let by the month or year, and so have rents and vacancy. */
const letTypes = words.letTypes as PropertyType[];

/** The subject of a signal: a market, an event of a project, or something a GP does. */
interface Occasion {
  type: SignalType;
  story: Story;
  day: number;
  gps: readonly InventedGp[];
  projects: readonly InventedProject[];
  /** Amount that the story's share is taken of. */
  baseUsd: number;
  metro: Metro;
  city: string;
  propertyTypes: PropertyType[];
  themes: string[];
}

const marketShare = 0.03;
const projectShare = 0.5;
const jointDealShare = 0.08;
/** Age of the oldest press report, in days. */
const pastDays = 4000;

/** Returns a function that invents one signal after another, by number from 1. It tells each event of a project once. */
export function signalInventor(
  seed: number,
  gps: readonly InventedGp[],
): (number: number) => CanonicalSignal {
  const random = startRandom(seed, "signals");
  /** Events of projects that no signal has told yet. */
  const untold = new Map<InventedProject, ProjectEvent[]>();
  const someOccasion = (): Occasion => {
    if (gps.length === 0 || chance(random, marketShare)) return marketOccasion(random);
    const gp = pickEarly(random, gps, 4);
    if (gp.projects.length > 0 && chance(random, projectShare)) {
      const project = pick(random, gp.projects);
      const events = untold.get(project) ?? eventsOf(random, project);
      untold.set(project, events);
      const event = events.pop();
      if (event !== undefined) return projectOccasion(project, event);
    }
    return gpOccasion(random, gp);
  };
  return (number) => signalOf(random, number, someOccasion());
}

const cityOf = ({ cities: [city] }: Metro): string => city?.name ?? "";

function marketOccasion(random: Random): Occasion {
  const metro = someMetro(random);
  const [city, propertyTypes] = [cityOf(metro), [pick(random, letTypes)]];
  const about = { gps: [], projects: [], baseUsd: 0, metro, city, propertyTypes, themes: [] };
  return { type: "news", story: marketStory, day: recentDay(random, pastDays), ...about };
}

const projectOccasion = (project: InventedProject, event: ProjectEvent): Occasion => ({
  ...event,
  story: projectStories[event.type]!,
  gps: project.gps,
  projects: [project],
  baseUsd: project.amountUsd,
  metro: project.metro,
  city: project.city.name,
  propertyTypes: [project.record.property_type],
  themes: project.record.themes,
});

function gpOccasion(random: Random, gp: InventedGp): Occasion {
  let story = someGpStory(random);
  while (!suits(story, gp)) story = someGpStory(random);
  const metro = pick(random, gp.metros);
  const isJoint = story.voice === "deal" && chance(random, jointDealShare);
  const { property_types, themes } = gp.record;
  return {
    type: story.type,
    story,
    day: recentDay(random, Math.min(pastDays, lastDay - dayOf(gp.foundedYear))),
    gps: withNeighbours(random, gp, isJoint ? 1 : 0),
    // One loan may cover up to three properties of the GP.
    projects: story.type === "financing" ? pickSome(random, gp.projects.filter(isOwned), 3) : [],
    baseUsd: gp.scaleUsd,
    metro,
    city: cityOf(metro),
    propertyTypes: pickSome(random, property_types, 1),
    themes: pickSome(random, themes, 1),
  };
}

const isOwned = ({ record: { status } }: InventedProject): boolean =>
  status === "closed" || status === "completed";

/** Reports whether a story fits a GP: only issuers offer, only advisers report, and only a GP with people changes them. */
function suits({ type, voice }: GpStory, { record, people }: InventedGp): boolean {
  if (type === "general_solicitation") return record.tags.includes("reg_d_506c");
  if (voice === "offering" || type === "fund_close")
    return record.external_ids.form_d_file !== undefined;
  if (voice === "adviser") return record.external_ids.crd !== undefined;
  return voice !== "people" || people.length > 0;
}

function signalOf(random: Random, number: number, occasion: Occasion): CanonicalSignal {
  const { type, story, day, gps, projects } = occasion;
  const amountUsd = someAmount(random, occasion);
  const title = someHeadline(random, occasion, amountUsd);
  const publishedDay = Math.min(lastDay, day + whole(random, 0, 6));
  const updatedAt = someTime(random, publishedDay);
  const isTimed = chance(random, 0.5);
  return {
    record: "signal",
    id: `signal-${number}`,
    type,
    title,
    summary: chance(random, 0.4) ? `${title}. ${pick(random, words.remarks[story.voice])}` : null,
    date: chance(random, 0.97) ? dayText(day) : roughDay(random, day),
    published_at: chance(random, 0.15) ? null : isTimed ? updatedAt : dayText(publishedDay),
    amount_usd: amountUsd,
    amount_basis: amountUsd === null ? null : (story.basis ?? null),
    market: chance(random, 0.85) || gps.length === 0 ? occasion.metro.title : null,
    property_types: occasion.propertyTypes,
    project_ids: projects.map(({ record }) => record.id),
    url: chance(random, 0.7) ? urlOf(number, occasion) : null,
    tags: tagsOf(occasion),
    themes: occasion.themes,
    gps: gps.map(({ record }) => record.id),
    updated_at: updatedAt,
  };
}

/** Draws an amount. Returns null if the event has none, or none was told. */
function someAmount(random: Random, { story, baseUsd }: Occasion): number | null {
  const { share = 0, counted, plain } = story;
  if (counted === undefined) return null;
  if (plain !== undefined && chance(random, 0.2)) return null;
  const size = baseUsd * Math.abs(share) * logNormal(random, 1, 0.4);
  return Math.sign(share) * roundAmount(Math.max(25_000, size));
}

function someHeadline(random: Random, occasion: Occasion, amountUsd: number | null): string {
  const { story, gps, projects } = occasion;
  const [gp] = gps;
  const person = gp && gp.people.length > 0 ? pick(random, gp.people) : undefined;
  const gaps: Readonly<Record<string, () => string>> = {
    gp: () => gpNames(gps),
    amount: () => amountWords(Math.abs(amountUsd ?? 0)),
    vehicle: () => inventVehicle(random, gp?.stem ?? ""),
    person: () => person?.name ?? "",
    title: () => person?.title ?? "",
    project: () => projects[0]?.record.name ?? "",
    property: () => words.properties[occasion.propertyTypes[0] ?? "unknown"].called,
    city: () => occasion.city,
    percent: () => `${whole(random, 5, 95) / 10}`,
  };
  const headlines = (amountUsd === null ? story.plain : story.counted)!;
  const title = fill(pick(random, headlines), (gap) => gaps[gap]!());
  return title.charAt(0).toUpperCase() + title.slice(1);
}

/** Returns names such as `Northwind Partners (with Hale Realty)`: one subject, so that the verb agrees. */
function gpNames([first, ...others]: readonly InventedGp[]): string {
  if (first === undefined) return "A private owner";
  if (others.length === 0) return first.record.name;
  return `${first.record.name} (with ${others.map(({ record }) => record.name).join(" and ")})`;
}

function urlOf(number: number, { story, day, gps, projects }: Occasion): string {
  if (story.voice !== "offering" && story.voice !== "adviser")
    return `https://news.example/${dayText(day).replaceAll("-", "/")}/${number}`;
  const { form_d_file, crd } = (projects[0] ?? gps[0])?.record.external_ids ?? {};
  const file = story.voice === "offering" ? form_d_file : crd;
  return `https://filings.example/${file?.[0] ?? "adv"}/${number}`;
}

function tagsOf({ type, story, gps, projects }: Occasion): string[] {
  if (story.voice === "market" && gps.length === 0) return ["market_report"];
  if (story.voice !== "offering") return [];
  if (type === "general_solicitation") return ["reg_d_506c"];
  const tags = (projects[0] ?? gps[0])?.record.tags ?? [];
  const rules = tags.filter((tag) => tag.startsWith("reg_d_"));
  return type === "offering_amended" ? [...rules, "amended"] : rules;
}
