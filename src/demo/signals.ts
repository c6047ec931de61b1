/** Invents signals: what GPs file, buy, build and announce, most of it lately and most of it by few. */
import type { CanonicalSignal } from "#records/canonical.ts";
import type { InventedGp, InventedProject } from "./cast.ts";
import { eventsOf, type ProjectEvent } from "./events.ts";
import { gpOccasion, marketOccasion, projectOccasion, type Occasion } from "./occasions.ts";
import { chance, pick, startRandom, steeplyFirst, type Random } from "./random.ts";
import { signalOf } from "./signal-record.ts";

const marketShare = 0.03;
const projectShare = 0.5;

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

function someOccasion(random: Random, gps: readonly InventedGp[], untold: Untold): Occasion {
  if (gps.length === 0 || chance(random, marketShare)) return marketOccasion(random);
  const gp = gps[steeplyFirst(random, gps.length)] as InventedGp;
  if (gp.projects.length > 0 && chance(random, projectShare)) {
    const project = pick(random, gp.projects);
    const event = nextEvent(random, project, untold);
    if (event !== undefined) return projectOccasion(project, event);
  }
  return gpOccasion(random, gp);
}

function nextEvent(
  random: Random,
  project: InventedProject,
  untold: Untold,
): ProjectEvent | undefined {
  let events = untold.get(project);
  if (events === undefined) {
    events = eventsOf(random, project);
    untold.set(project, events);
  }
  return events.pop();
}
