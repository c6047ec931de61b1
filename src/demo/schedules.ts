/** The course of a project: dates that fit its status, and the events that follow from them. */
import type { InventedProject, ProjectType, Schedule, SignalType } from "./cast.ts";
import { lastDay, recentDay } from "./dates.ts";
import { chance, weightedKeys, whole, type Random } from "./random.ts";
import words from "./words.json" with { type: "json" };

const statusOfWork = weightedKeys(words.statuses.work);
const statusOfPurchase = weightedKeys(words.statuses.acquisition);
const statusOfOffering = weightedKeys(words.statuses.property_offering);

/** Invents a schedule. It starts when work or an offering begins or a purchase is signed, and completes when that ends. */
export function inventSchedule(random: Random, type: ProjectType): Schedule {
  const isOffering = type === "property_offering";
  const ofOthers = type === "acquisition" ? statusOfPurchase : statusOfWork;
  const status = (isOffering ? statusOfOffering : ofOthers)(random);
  const [startDay, completionDay] = daysOf(random, status);
  const saleDay = isOffering && startDay !== null ? startDay + whole(random, 0, 30) : null;
  const firstSaleDay = saleDay !== null && saleDay <= lastDay ? saleDay : null;
  return { status, startDay, completionDay, firstSaleDay };
}

function daysOf(random: Random, status: Schedule["status"]): [number | null, number | null] {
  const length = whole(random, 60, 900);
  const startDay = lastDay + whole(random, 20, 700);
  const endDay = recentDay(random, 3600);
  switch (status) {
    case "planned":
    case "entitled":
      return [startDay, chance(random, 0.5) ? startDay + length : null];
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

/** Something that happened in a project, for a signal to report. */
export interface ProjectEvent {
  type: SignalType;
  day: number;
}

/** Returns the events up to the last day, oldest first, each at most once. */
export const eventsOf = (random: Random, project: InventedProject): ProjectEvent[] =>
  datesOf(random, project).flatMap(([type, day]) =>
    day === null || day > lastDay ? [] : [{ type, day }],
  );

function datesOf(random: Random, project: InventedProject): [SignalType, number | null][] {
  const { status, startDay, completionDay, firstSaleDay } = project.schedule;
  const endDay = status === "closed" || status === "completed" ? completionDay : null;
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
        ["financing", endDay + whole(random, 0, 20)],
        ["disposition", chance(random, 0.3) ? endDay + whole(random, 700, 2600) : null],
      ];
    default: {
      const begun = status === "under_construction" ? startDay : endDay && startDay;
      const permitted = status === "entitled" ? startDay : begun;
      return [
        ["project_announced", (startDay ?? lastDay + 200) - whole(random, 210, 700)],
        ["permit_issued", permitted && permitted - whole(random, 20, 200)],
        ["construction_started", begun],
        ["financing", begun && begun + whole(random, 0, 60)],
        ["project_completed", endDay],
      ];
    }
  }
}
