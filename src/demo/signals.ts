/** Invents signals: what GPs file, buy, build and announce, most of it lately and most of it by few. */
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
import { inventVehicle } from "./names.ts";
import { someMetro, type Metro } from "./places.ts";
import {
  chance,
  logNormal,
  pick,
  pickSome,
  startRandom,
  steeplyFirst,
  weightedKeys,
  whole,
  type Random,
} from "./random.ts";
import { eventsOf, type ProjectEvent } from "./schedules.ts";
import { amountWords, fill, roundAmount } from "./text.ts";
import words from "./words.json" with { type: "json" };

/** Events of projects that no signal has told yet. */
type Untold = Map<InventedProject, ProjectEvent[]>;

/** Makes the function that invents signal after signal, by number from 1; a project's event is told once. */
export function signalInventor(
  seed: number,
  gps: readonly InventedGp[],
): (number: number) => CanonicalSignal {
  const random = startRandom(seed, "signals");
  const untold: Untold = new Map();
  return (number) => signalOf(random, number, someOccasion(random, gps, untold));
}

/** What a kind of signal tells. */
interface Story {
  /** Who says so: a notice of an offering, an adviser's report, or the press about a deal, a site, people, a market. */
  voice: keyof typeof words.remarks;
  /** What the amount counts; missing where there is none. */
  basis?: (typeof amountBases)[number];
  /** The amount as a share of what the GP manages or the project costs; below zero for a fall. */
  share?: number;
  /** Headlines that name the amount, and those that do not; at least one list is there. */
  counted?: string[];
  plain?: string[];
}

type Stories = Readonly<Partial<Record<SignalType, Story>>>;

const gpStories = words.gpStories as Stories;
const projectStories = words.projectStories as Stories;
const aumFallStory = words.aumFallStory as Story;
const marketStory = words.marketStory as Story;

/** What a signal is about: a market, an event of a project, or something a GP does. */
interface Occasion {
  type: SignalType;
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

const marketShare = 0.03;
const projectShare = 0.5;

function someOccasion(random: Random, gps: readonly InventedGp[], untold: Untold): Occasion {
  if (gps.length === 0 || chance(random, marketShare)) return marketOccasion(random);
  const gp = gps[steeplyFirst(random, gps.length)] as InventedGp;
  if (gp.projects.length > 0 && chance(random, projectShare)) {
    const project = pick(random, gp.projects);
    const events = untold.get(project) ?? eventsOf(random, project);
    untold.set(project, events);
    const event = events.pop();
    if (event !== undefined) return projectOccasion(project, event);
  }
  return gpOccasion(random, gp);
}

/** How far back the press goes, in days. */
const pastDays = 4000;

/** What is let by the month or the year, so that it has rents and vacancy. */
const letTypes = words.letTypes as PropertyType[];

const cityOf = ({ cities: [city] }: Metro): string => city?.name ?? "";

function marketOccasion(random: Random): Occasion {
  const metro = someMetro(random);
  return {
    type: "news",
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

function projectOccasion(project: InventedProject, { type, day }: ProjectEvent): Occasion {
  return {
    type,
    story: projectStories[type] as Story,
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

function gpOccasion(random: Random, gp: InventedGp): Occasion {
  const type = someGpStoryType(random, gp);
  const isFall = type === "aum_change" && chance(random, 0.25);
  const story = isFall ? aumFallStory : (gpStories[type] as Story);
  const metro = pick(random, gp.metros);
  const isDeal = story.voice === "deal" && type !== "fund_close";
  return {
    type,
    story,
    day: recentDay(random, Math.min(pastDays, lastDay - dayOf(gp.foundedYear))),
    gps: isDeal ? withNeighbours(random, gp, chance(random, jointDealShare) ? 1 : 0) : [gp],
    projects: type === "financing" && chance(random, 0.3) ? someHoldings(random, gp) : [],
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

const { storiesOfAll, storiesOfIssuers, storiesOfAdvisers } = words;
/** By whether the GP offers shares, then by whether it is an adviser. */
const someType = [
  [weightedKeys(storiesOfAll), weightedKeys({ ...storiesOfAll, ...storiesOfAdvisers })],
  [
    weightedKeys({ ...storiesOfAll, ...storiesOfIssuers }),
    weightedKeys({ ...storiesOfAll, ...storiesOfIssuers, ...storiesOfAdvisers }),
  ],
] as const;

/** What suits the GP: only issuers offer, only advisers report. */
function someGpStoryType(random: Random, gp: InventedGp): SignalType {
  const type = someType[gp.formDFiles.length > 0 ? 1 : 0][gp.isAdviser ? 1 : 0](random);
  if (type === "general_solicitation" && !gp.tags.includes("reg_d_506c")) return "new_offering";
  const needsPerson = type === "new_principal" || type === "leadership_change";
  return needsPerson && gp.people.length === 0 ? "news" : type;
}

/** The record: headline, summary, amount, dates, address. */
function signalOf(random: Random, number: number, occasion: Occasion): CanonicalSignal {
  const { type, story, day, gps, projects } = occasion;
  const amountUsd = someAmount(random, occasion);
  const title = someHeadline(random, occasion, amountUsd);
  const publishedDay = Math.min(lastDay, day + whole(random, 0, 6));
  const updatedAt = someTime(random, publishedDay);
  return {
    record: "signal",
    id: `signal-${number}`,
    type,
    title,
    summary: chance(random, 0.4) ? `${title}. ${pick(random, words.remarks[story.voice])}` : null,
    date: chance(random, 0.97) ? dayText(day) : roughDay(random, day),
    published_at: somePublishedAt(random, publishedDay, updatedAt),
    amount_usd: amountUsd,
    amount_basis: amountUsd === null ? null : (story.basis ?? null),
    market: chance(random, 0.85) || gps.length === 0 ? occasion.metro.title : null,
    property_types: occasion.propertyTypes,
    project_ids: projects.map(({ id }) => id),
    url: chance(random, 0.7) ? someUrl(random, number, occasion) : null,
    tags: tagsOf(occasion),
    themes: occasion.themes,
    gps: gps.map(({ id }) => id),
    updated_at: updatedAt,
  };
}

/** Null where the event has no amount, or none was told. */
function someAmount(random: Random, { story, baseUsd }: Occasion): number | null {
  const { share = 0, counted, plain } = story;
  if (counted === undefined) return null;
  if (plain !== undefined && chance(random, 0.2)) return null;
  const size = baseUsd * Math.abs(share) * logNormal(random, 1, 0.4);
  return Math.sign(share) * roundAmount(Math.max(25_000, size));
}

function someHeadline(random: Random, occasion: Occasion, amountUsd: number | null): string {
  const { story, gps, projects } = occasion;
  const person = gps[0] && gps[0].people.length > 0 ? pick(random, gps[0].people) : undefined;
  const gaps: Readonly<Record<string, () => string>> = {
    gp: () => gpNames(gps),
    amount: () => amountWords(Math.abs(amountUsd ?? 0)),
    vehicle: () => inventVehicle(random, gps[0]?.stem ?? ""),
    person: () => person?.name ?? "",
    title: () => person?.title ?? "",
    project: () => projects[0]?.name ?? "",
    property: () => words.properties[occasion.propertyTypes[0] ?? "unknown"].called,
    city: () => occasion.city,
    percent: () => `${whole(random, 5, 95) / 10}`,
  };
  const headlines = (amountUsd === null ? story.plain : story.counted) as string[];
  const title = fill(pick(random, headlines), (gap) => (gaps[gap] as () => string)());
  return title.charAt(0).toUpperCase() + title.slice(1);
}

/** `Northwind Partners (with Hale Realty)`: one subject, so that the verb agrees. */
function gpNames([first, ...others]: readonly InventedGp[]): string {
  if (first === undefined) return "A private owner";
  if (others.length === 0) return first.name;
  return `${first.name} (with ${others.map(({ name }) => name).join(" and ")})`;
}

function somePublishedAt(random: Random, day: number, time: string): string | null {
  const draw = random();
  if (draw < 0.15) return null;
  return draw < 0.6 ? dayText(day) : time;
}

function someUrl(random: Random, number: number, occasion: Occasion): string {
  const { story, day, gps, projects } = occasion;
  const isFiling = story.voice === "offering" || story.voice === "adviser";
  if (!isFiling) return `https://news.example/${dayText(day).replaceAll("-", "/")}/${number}`;
  const files = story.voice === "offering" ? (gps[0]?.formDFiles ?? []) : [];
  const file = projects[0]?.formDFile ?? (files.length > 0 ? pick(random, files) : "adv");
  return `https://filings.example/${file}/${number}`;
}

function tagsOf({ type, story, gps, projects }: Occasion): string[] {
  if (story.voice === "market" && gps.length === 0) return ["market_report"];
  if (story.voice !== "offering") return [];
  if (type === "general_solicitation") return ["reg_d_506c"];
  const rules = (projects[0] ?? gps[0])?.tags.filter((tag) => tag.startsWith("reg_d_")) ?? [];
  return type === "offering_amended" ? [...rules, "amended"] : rules;
}
