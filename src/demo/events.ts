/** What has happened in a project so far, read from its kind, its status and its dates. */
import type { InventedProject } from "./cast.ts";
import { lastDay } from "./dates.ts";
import { chance, whole, type Random } from "./random.ts";
import type { SignalType } from "./stories.ts";

export interface ProjectEvent {
  type: SignalType;
  day: number;
}

/** Events up to the last day, oldest first; each at most once. */
export function eventsOf(random: Random, project: InventedProject): ProjectEvent[] {
  return possibleEvents(random, project).filter(({ day }) => day <= lastDay);
}

/** What has happened or will, in the order of its days. */
function possibleEvents(random: Random, project: InventedProject): ProjectEvent[] {
  if (project.type === "property_offering") return offeringEvents(project);
  if (project.type === "acquisition") return purchaseEvents(random, project);
  return workEvents(random, project);
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

function purchaseEvents(
  random: Random,
  { status, completionDay }: InventedProject,
): ProjectEvent[] {
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
