/** Where a project stands and since when, so that its dates agree with its status. */
import type { InventedProject, ProjectStatus, ProjectType } from "./cast.ts";
import { lastDay } from "./dates.ts";
import { chance, weighted, whole, type Random } from "./random.ts";

type Schedule = Pick<InventedProject, "status" | "startDay" | "completionDay">;

const statusOfWork = weighted<ProjectStatus>([
  ["planned", 19],
  ["entitled", 14],
  ["under_construction", 28],
  ["completed", 31],
  ["on_hold", 4],
  ["cancelled", 2],
  ["unknown", 2],
]);
const statusOfPurchase = weighted<ProjectStatus>([
  ["closed", 80],
  ["planned", 12],
  ["cancelled", 3],
  ["on_hold", 2],
  ["unknown", 3],
]);
const statusOfOffering = weighted<ProjectStatus>([
  ["raising", 48],
  ["closed", 43],
  ["cancelled", 3],
  ["unknown", 6],
]);

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

/** A start is when work or an offering begins or a purchase is signed, a completion when it ends. */
export function inventSchedule(random: Random, type: ProjectType): Schedule {
  const status = someStatus(random, type);
  switch (status) {
    case "planned":
    case "entitled": {
      const startDay = chance(random, 0.6) ? futureDay(random, 20, 700) : null;
      const isDated = startDay !== null && chance(random, 0.5);
      return {
        status,
        startDay,
        completionDay: isDated ? startDay + whole(random, 60, 900) : null,
      };
    }
    case "raising":
      return { status, startDay: pastDay(random, 1, 600), completionDay: null };
    case "under_construction":
      return {
        status,
        startDay: pastDay(random, 20, 800),
        completionDay: futureDay(random, 20, 800),
      };
    case "closed": {
      const completionDay = pastDay(random, 3, 3600);
      return { status, startDay: completionDay - whole(random, 30, 300), completionDay };
    }
    case "completed": {
      const completionDay = pastDay(random, 3, 3600);
      return { status, startDay: completionDay - whole(random, 250, 1000), completionDay };
    }
    default:
      return {
        status,
        startDay: chance(random, 0.5) ? pastDay(random, 60, 1500) : null,
        completionDay: null,
      };
  }
}
