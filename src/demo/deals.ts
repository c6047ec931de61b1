/** Invents projects that GPs buy, build or offer shares in, and signals about GPs, projects and markets. */
import type { CanonicalProject, CanonicalSignal } from "#records/canonical.ts";
import type { amountBases } from "#records/vocabulary.ts";
import { startRandom, weighted, weightedKeys, type Random } from "./random.ts";
import words from "./words.json" with { type: "json" };
import {
  dayOf,
  dayText,
  fill,
  inventFrom,
  type InventedGp,
  type InventedProject,
  lastDay,
  type Metro,
  type ProjectType,
  type PropertyType,
  recentDay,
  roughDay,
  roundAmount,
  type Schedule,
  type SignalType,
  someCity,
  someMetro,
  someTime,
  withNeighbours,
} from "./world.ts";

interface Property {
  /** Key of a list in `buildingNames`. */
  names: string;
  /** Median number of units; left out if properties of the type are not measured in units. */
  units?: number;
  squareFeet?: number;
  /** Median cost in US dollars: of one unit, else of one square foot, else of the whole property. */
  costUsd: number;
  /** False for property that is bought and offered but never built, such as land. */
  isBuilt?: boolean;
}

const properties: Readonly<Record<PropertyType, Property>> = words.properties;
const buildingNames: Readonly<Record<string, readonly string[]>> = words.buildingNames;

/** Returns a function that invents the next project, given its number from 1, and adds the project to its GPs. */
export function projectInventor(seed: number, gps: readonly InventedGp[]) {
  const random = startRandom(seed, "projects");
  return (number: number): CanonicalProject => {
    const sponsors = someSponsors(random, gps);
    const project = inventProject(random, number, sponsors);
    for (const gp of sponsors) gp.projects.push(project);
    return project.record;
  };
}

/** Draws sponsors: usually one, sometimes two, rarely none. */
function someSponsors(random: Random, gps: readonly InventedGp[]): InventedGp[] {
  if (gps.length === 0 || random.chance(0.005)) return [];
  return withNeighbours(random, random.pickEarly(gps), random.chance(0.12) ? 1 : 0);
}

function inventProject(random: Random, number: number, gps: readonly InventedGp[]) {
  const sponsor = gps[0];
  const { property_types, themes, strategies } = sponsor?.record ?? {
    property_types: ["mixed_use"] as const,
    themes: [],
    strategies: [],
  };
  const propertyType = random.pick(property_types);
  const property = properties[propertyType];
  const size = someSize(random, property);
  const type = someType(random, propertyType);
  const isOffering = type === "property_offering";
  const schedule = inventSchedule(random, type);
  const amountUsd = roundAmount(size.costUsd);
  const isHome = sponsor !== undefined && random.chance(0.85);
  const metro = isHome ? random.pick(sponsor.metros) : someMetro(random);
  const city = someCity(random, metro);
  const name = inventFrom(random, random.pick(buildingNames[property.names]!));
  const record: InventedProject["record"] = {
    record: "project",
    id: `project-${number}`,
    name,
    type,
    property_type: propertyType,
    status: schedule.status,
    city: city.name,
    state: city.state,
    country: "US",
    market: metro.title,
    // Most notices of offerings give the sponsor's address, not the property's.
    ...(!isOffering || random.chance(0.4)
      ? somePlace(random, name, metro, city.zipStart)
      : elsewhere),
    units: size.units,
    affordable_units: propertyType === "affordable_housing" ? size.units : null,
    square_feet: size.squareFeet,
    total_amount_usd: isOffering || random.chance(0.7) ? amountUsd : null,
    raised_amount_usd: isOffering
      ? Math.round(amountUsd * (schedule.status === "closed" ? 1 : random.next()))
      : null,
    ...datesOf(random, schedule),
    strategy: strategies.length > 0 && random.chance(0.6) ? random.pick(strategies) : null,
    tags: someTags(random, type, gps.length),
    themes: random.pickSome(themes, 1),
    external_ids: {},
    gps: gps.map((gp) => gp.record.id),
  };
  // Real file numbers have not reached this range.
  if (isOffering) record.external_ids.form_d_file = [`021-${800_000 + number}`];
  else if (type === "affordable_housing" && random.chance(0.6))
    record.external_ids.hud_id = [`${city.state}X${String(number).padStart(7, "0")}`];
  return { record, gps, metro, city, schedule, amountUsd };
}

/** Draws a size, and a cost that matches it. */
function someSize(random: Random, { units, squareFeet, costUsd }: Property) {
  const factor = random.logNormal(1, 0.6);
  const size = {
    units: units ? Math.max(2, Math.round(units * factor)) : null,
    squareFeet: squareFeet ? Math.max(1000, Math.round((squareFeet * factor) / 100) * 100) : null,
  };
  const counted = size.units ?? size.squareFeet ?? factor;
  return { ...size, costUsd: counted * random.logNormal(costUsd, 0.25) };
}

const someTypeOfBuilt = weightedKeys(words.typesOfBuilt);
const someTypeOfUnbuilt = weightedKeys(words.typesOfUnbuilt);

function someType(random: Random, propertyType: PropertyType): ProjectType {
  if (properties[propertyType].isBuilt === false) return someTypeOfUnbuilt(random);
  if (propertyType === "affordable_housing" && random.chance(0.75)) return "affordable_housing";
  return someTypeOfBuilt(random);
}

function someTags(random: Random, type: ProjectType, gpCount: number): string[] {
  const tags = random.pickEach(words.siteTags);
  if (gpCount > 1) tags.push("joint_venture");
  if (type === "affordable_housing") tags.push(...random.pickEach(words.subsidyTags));
  if (type === "property_offering") tags.push(random.chance(0.7) ? "reg_d_506b" : "reg_d_506c");
  return tags;
}

const elsewhere = {
  address: null,
  zip: null,
  market_basis: "issuer_address",
  latitude: null,
  longitude: null,
} as const;

const somePlace = (random: Random, name: string, metro: Metro, zipStart: string) =>
  ({
    // A property named after its address has that address.
    address: /^\d+ .+ Street$/.test(name)
      ? name
      : inventFrom(random, `{number} {street} ${random.pick(words.streetEnds)}`),
    zip: zipStart + String(random.whole(1, 99)).padStart(2, "0"),
    market_basis: "property_address",
    latitude: near(random, metro.latitude),
    longitude: near(random, metro.longitude),
  }) as const;

/** Draws a coordinate within about 10 km of another, to four decimal places. */
const near = (random: Random, degrees: number): number =>
  Math.round((degrees + (random.next() - 0.5) * 0.18) * 10_000) / 10_000;

/** Returns a project's dates and its `updated_at`, which is never before the day of its latest past event. */
function datesOf(random: Random, { startDay, completionDay, firstSaleDay }: Schedule) {
  const days = [startDay, firstSaleDay, completionDay].map((day) => day ?? 0);
  const latestDay = Math.max(lastDay - 900, ...days.filter((day) => day <= lastDay));
  return {
    start_date: startDay === null ? null : roughDay(random, startDay),
    completion_date: completionDay === null ? null : roughDay(random, completionDay),
    first_sale_date: firstSaleDay === null ? null : dayText(firstSaleDay),
    updated_at: someTime(random, recentDay(random, lastDay - latestDay)),
  };
}

const statusOfWork = weightedKeys(words.statuses.work);
const statusOfPurchase = weightedKeys(words.statuses.acquisition);
const statusOfOffering = weightedKeys(words.statuses.property_offering);

/** Invents a schedule: a status, and the days of the start, the completion and an offering's first sale. */
function inventSchedule(random: Random, type: ProjectType): Schedule {
  const isOffering = type === "property_offering";
  const ofOthers = type === "acquisition" ? statusOfPurchase : statusOfWork;
  const status = (isOffering ? statusOfOffering : ofOthers)(random);
  const [startDay, completionDay] = daysOf(random, status);
  const saleDay = isOffering && startDay !== null ? startDay + random.whole(0, 30) : null;
  const firstSaleDay = saleDay !== null && saleDay <= lastDay ? saleDay : null;
  return { status, startDay, completionDay, firstSaleDay };
}

function daysOf(random: Random, status: Schedule["status"]): [number | null, number | null] {
  const length = random.whole(60, 900);
  const startDay = lastDay + random.whole(20, 700);
  const endDay = recentDay(random, 3600);
  switch (status) {
    case "planned":
    case "entitled":
      return [startDay, random.chance(0.5) ? startDay + length : null];
    case "raising":
      return [recentDay(random, 600), null];
    case "under_construction":
      return [recentDay(random, 800), startDay];
    case "closed":
    case "completed":
      return [endDay - length, endDay];
    default:
      return [null, null];
  }
}

type ProjectEvent = Pick<Occasion, "type" | "day">;

/** Returns a project's events up to `lastDay`, oldest first and each at most once. */
const eventsOf = (random: Random, project: InventedProject): ProjectEvent[] =>
  courseOf(random, project).flatMap(([type, day]) =>
    day === null || day > lastDay ? [] : [{ type, day }],
  );

function courseOf(random: Random, project: InventedProject): [SignalType, number | null][] {
  const { status, startDay, completionDay, firstSaleDay } = project.schedule;
  const endDay = isDone(project) ? completionDay : null;
  switch (project.record.type) {
    case "property_offering":
      return [
        ["new_offering", startDay],
        ["first_sale", firstSaleDay],
        ["fully_subscribed", endDay],
      ];
    case "acquisition":
      if (endDay === null) return [];
      return [
        ["acquisition", endDay],
        ["financing", endDay + random.whole(0, 20)],
        ["disposition", random.chance(0.3) ? endDay + random.whole(700, 2600) : null],
      ];
    default: {
      const begun = status === "under_construction" ? startDay : endDay && startDay;
      const permitted = status === "entitled" ? startDay : begun;
      return [
        ["project_announced", (startDay ?? lastDay + 200) - random.whole(210, 700)],
        ["permit_issued", permitted && permitted - random.whole(20, 200)],
        ["construction_started", begun],
        ["financing", begun && begun + random.whole(0, 60)],
        ["project_completed", endDay],
      ];
    }
  }
}

/** Content of one kind of signal. */
interface Story {
  /** Voice of the text: a notice of an offering, an adviser's report, or news of a deal, site, people or market. */
  voice: keyof typeof words.remarks;
  /** Meaning of the amount; left out if there is no amount. */
  basis?: (typeof amountBases)[number];
  /** Amount as a share of the GP's assets or the project's cost; negative for a fall. */
  share?: number;
  /** Headlines with the amount; `plain` has those without. At least one of the two lists is given. */
  counted?: string[];
  plain?: string[];
}

type GpStory = Story & { type: SignalType; weight: number };

const gpStories = words.gpStories as GpStory[];
const someGpStory = weighted(gpStories.map((one) => [one, one.weight]));
const projectStories = words.projectStories as Partial<Record<SignalType, Story>>;
const marketStory = words.marketStory as Story;
/** Property types that are let by the month or year, and so have rents and vacancies. */
const letTypes = words.letTypes as PropertyType[];

/** Subject of a signal: a market, a project event, or an action of a GP. */
interface Occasion {
  type: SignalType;
  story: Story;
  day: number;
  gps: readonly InventedGp[];
  projects: readonly InventedProject[];
  /** Amount to which the story's share applies. */
  baseUsd: number;
  metro: Metro;
  city: string;
  propertyTypes: PropertyType[];
  themes: string[];
}

const marketShare = 0.03;
const projectShare = 0.5;
const jointDealShare = 0.08;
/** Maximum age of a signal that reports no event of a project, in days. */
const pastDays = 4000;

/** Returns a function that invents the next signal, given its number from 1. No project event is reported twice. */
export function signalInventor(seed: number, gps: readonly InventedGp[]) {
  const random = startRandom(seed, "signals");
  /** Events that no signal has reported yet, for each project drawn so far. */
  const untold = new Map<InventedProject, ProjectEvent[]>();
  const someOccasion = (): Occasion => {
    if (gps.length === 0 || random.chance(marketShare)) return marketOccasion(random);
    const gp = random.pickEarly(gps, 4);
    if (gp.projects.length > 0 && random.chance(projectShare)) {
      const project = random.pick(gp.projects);
      const events = untold.get(project) ?? eventsOf(random, project);
      untold.set(project, events);
      const event = events.pop();
      if (event !== undefined) return projectOccasion(project, event);
    }
    return gpOccasion(random, gp);
  };
  return (number: number) => signalOf(random, number, someOccasion());
}

const cityOf = ({ cities: [city] }: Metro): string => city?.name ?? "";

function marketOccasion(random: Random): Occasion {
  const metro = someMetro(random);
  const of = { metro, city: cityOf(metro), propertyTypes: [random.pick(letTypes)], themes: [] };
  const day = recentDay(random, pastDays);
  return { type: "news", story: marketStory, day, gps: [], projects: [], baseUsd: 0, ...of };
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
  const metro = random.pick(gp.metros);
  const isJoint = story.voice === "deal" && random.chance(jointDealShare);
  const { property_types, themes } = gp.record;
  return {
    type: story.type,
    story,
    day: recentDay(random, Math.min(pastDays, lastDay - dayOf(gp.foundedYear))),
    gps: withNeighbours(random, gp, isJoint ? 1 : 0),
    // One loan may cover up to three properties of the GP.
    projects: story.type === "financing" ? random.pickSome(gp.projects.filter(isDone), 3) : [],
    baseUsd: gp.scaleUsd,
    metro,
    city: cityOf(metro),
    propertyTypes: random.pickSome(property_types, 1),
    themes: random.pickSome(themes, 1),
  };
}

const isDone = ({ record: { status } }: InventedProject): boolean =>
  status === "closed" || status === "completed";

/** Reports whether a story fits a GP: only issuers offer, only advisers report, and news about people needs people. */
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
  const publishedDay = Math.min(lastDay, day + random.whole(0, 6));
  const updatedAt = someTime(random, publishedDay);
  const isTimed = random.chance(0.5);
  return {
    record: "signal",
    id: `signal-${number}`,
    type,
    title,
    summary: random.chance(0.4) ? `${title}. ${random.pick(words.remarks[story.voice])}` : null,
    date: random.chance(0.97) ? dayText(day) : roughDay(random, day),
    published_at: random.chance(0.15) ? null : isTimed ? updatedAt : dayText(publishedDay),
    amount_usd: amountUsd,
    amount_basis: amountUsd === null ? null : (story.basis ?? null),
    market: random.chance(0.85) || gps.length === 0 ? occasion.metro.title : null,
    property_types: occasion.propertyTypes,
    project_ids: projects.map(({ record }) => record.id),
    url: random.chance(0.7) ? `https://news.example/${dayText(day)}/${number}` : null,
    tags: tagsOf(occasion),
    themes: occasion.themes,
    gps: gps.map(({ record }) => record.id),
    updated_at: updatedAt,
  };
}

/** Draws an amount. Returns null if the event has no amount, or if the amount is not disclosed. */
function someAmount(random: Random, { story, baseUsd }: Occasion): number | null {
  const { share = 0, counted, plain } = story;
  if (counted === undefined) return null;
  if (plain !== undefined && random.chance(0.2)) return null;
  const size = baseUsd * Math.abs(share) * random.logNormal(1, 0.4);
  return Math.sign(share) * roundAmount(Math.max(25_000, size));
}

function someHeadline(random: Random, occasion: Occasion, amountUsd: number | null): string {
  const { story, gps, projects } = occasion;
  const [gp] = gps;
  const person = gp && gp.people.length > 0 ? random.pick(gp.people) : undefined;
  const gaps: Readonly<Record<string, () => string>> = {
    gp: () => gpNames(gps),
    amount: () => amountWords(Math.abs(amountUsd ?? 0)),
    vehicle: () => inventFrom(random, someFundName(random), gp?.stem),
    person: () => person?.name ?? "",
    title: () => person?.title ?? "",
    project: () => projects[0]?.record.name ?? "",
    property: () => words.properties[occasion.propertyTypes[0] ?? "unknown"].called,
    city: () => occasion.city,
    percent: () => `${random.whole(5, 95) / 10}`,
  };
  const headlines = (amountUsd === null ? story.plain : story.counted)!;
  const title = fill(random.pick(headlines), (gap) => gaps[gap]!());
  return title.charAt(0).toUpperCase() + title.slice(1);
}

/** Draws a pattern for names of funds and single-property companies, such as `Northwind Real Estate Fund III, LP`. */
const someFundName = weightedKeys(words.fundNames);

/** Returns a rounded amount of at least 1,000 in words, such as `$48.1 million`. */
function amountWords(value: number): string {
  if (value >= 1e9) return `$${Math.round(value / 1e7) / 100} billion`;
  if (value >= 1e6) return `$${Math.round(value / 1e4) / 100} million`;
  return `$${Math.round(value / 1000)},000`;
}

/** Returns names such as `Northwind (with Hale Realty)`. The brackets keep verbs singular. */
function gpNames([first, ...others]: readonly InventedGp[]): string {
  if (first === undefined) return "A private owner";
  if (others.length === 0) return first.record.name;
  return `${first.record.name} (with ${others.map(({ record }) => record.name).join(" and ")})`;
}

function tagsOf({ type, story, gps, projects }: Occasion): string[] {
  if (story.voice === "market" && gps.length === 0) return ["market_report"];
  if (story.voice !== "offering") return [];
  if (type === "general_solicitation") return ["reg_d_506c"];
  const tags = (projects[0] ?? gps[0])?.record.tags ?? [];
  const rules = tags.filter((tag) => tag.startsWith("reg_d_"));
  return type === "offering_amended" ? [...rules, "amended"] : rules;
}
