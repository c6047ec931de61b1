/** The course of a project: dates that agree with its status, and the events that follow from them. */
import type { InventedProject, ProjectStatus, ProjectType, SignalType } from "./cast.ts";
import { lastDay } from "./dates.ts";
import { chance, weightedKeys, whole, type Random } from "./random.ts";
import words from "./words.json" with { type: "json" };

const statusOfWork = weightedKeys(words.workStatuses);
const statusOfPurchase = weightedKeys(words.purchaseStatuses);
const statusOfOffering = weightedKeys(words.offeringStatuses);

/** A start is when work or an offering begins or a purchase is signed, a completion when it ends. */
export function inventSchedule(
  random: Random,
  type: ProjectType,
): Pick<InventedProject, "status" | "startDay" | "completionDay"> {
  const status = someStatus(random, type);
  switch (status) {
    case "planned":
    case "entitled": {
      const startDay = chance(random, 0.6) ? futureDay(random, 20, 700) : null;
      const isDated = startDay !== null && chance(random, 0.5);
      const completionDay = isDated ? startDay + whole(random, 60, 900) : null;
      return { status, startDay, completionDay };
    }
    case "raising":
      return { status, startDay: pastDay(random, 1, 600), completionDay: null };
    case "under_construction": {
      const startDay = pastDay(random, 20, 800);
      return { status, startDay, completionDay: futureDay(random, 20, 800) };
    }
    case "closed": {
      const completionDay = pastDay(random, 3, 3600);
      return { status, startDay: completionDay - whole(random, 30, 300), completionDay };
    }
    case "completed": {
      const completionDay = pastDay(random, 3, 3600);
      return { status, startDay: completionDay - whole(random, 250, 1000), completionDay };
    }
    default: {
      const startDay = chance(random, 0.5) ? pastDay(random, 60, 1500) : null;
      return { status, startDay, completionDay: null };
    }
  }
}

function someStatus(random: Random, type: ProjectType): ProjectStatus {
  if (type === "property_offering") return statusOfOffering(random);
  if (type === "acquisition") return statusOfPurchase(random);
  return statusOfWork(random);
}

/** A day before the last one, the more likely the later. */
function pastDay(random: Random, nearest: number, furthest: number): number {
  const share = random();
  return lastDay - nearest - Math.floor(share * share * (furthest - nearest));
}

const futureDay = (random: Random, nearest: number, furthest: number): number =>
  lastDay + whole(random, nearest, furthest);

/** Something that has happened in a project, for a signal to tell. */
export interface ProjectEvent {
  type: SignalType;
  day: number;
}

/** Events up to the last day, oldest first; each at most once. */
export function eventsOf(random: Random, project: InventedProject): ProjectEvent[] {
  let events: ProjectEvent[];
  if (project.type === "property_offering") events = offeringEvents(project);
  else if (project.type === "acquisition") events = purchaseEvents(random, project);
  else events = workEvents(random, project);
  return events.filter(({ day }) => day <= lastDay);
}

function offeringEvents(project: InventedProject): ProjectEvent[] {
  const { status, startDay, firstSaleDay, completionDay } = project;
  if (startDay === null) return [];
  const events: ProjectEvent[] = [{ type: "new_offering", day: startDay }];
  if (firstSaleDay !== null) events.push({ type: "first_sale", day: firstSaleDay });
  if (status === "closed" && completionDay !== null)
    events.push({ type: "fully_subscribed", day: completionDay });
  return events;
}

function purchaseEvents(random: Random, project: InventedProject): ProjectEvent[] {
  const { status, completionDay } = project;
  if (status !== "closed" || completionDay === null) return [];
  const events: ProjectEvent[] = [
    { type: "acquisition", day: completionDay },
    { type: "financing", day: completionDay + whole(random, 0, 20) },
  ];
  if (chance(random, 0.3))
    events.push({ type: "disposition", day: completionDay + whole(random, 700, 2600) });
  return events;
}

function workEvents(random: Random, project: InventedProject): ProjectEvent[] {
  const { status, startDay, completionDay } = project;
  const announcedDay = (startDay ?? lastDay + 200) - whole(random, 210, 700);
  const events: ProjectEvent[] = [{ type: "project_announced", day: announcedDay }];
  if (startDay === null) return events;
  const isUnderWay = status === "under_construction" || status === "completed";
  if (isUnderWay || status === "entitled")
    events.push({ type: "permit_issued", day: startDay - whole(random, 20, 200) });
  if (isUnderWay)
    events.push(
      { type: "construction_started", day: startDay },
      { type: "financing", day: startDay + whole(random, 0, 60) },
    );
  if (status === "completed" && completionDay !== null)
    events.push({ type: "project_completed", day: completionDay });
  return events;
}
