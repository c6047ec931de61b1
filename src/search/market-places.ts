/** Places of markets, from the coordinates of the projects in them. */
import { fold } from "#records/fold.ts";
import type { Project } from "#records/project.ts";
import { readDocuments } from "./dataset-parts.ts";
import { getOrCompute } from "./get-or-compute.ts";
import type { ReadModel } from "./read-model.ts";

type Coordinates = ReturnType<typeof middleOf>;

/** Maximum number of projects from which a market's place is computed. More would hardly move it. */
const projectsMax = 25;

const known = new WeakMap<ReadModel, Map<string, Coordinates>>();

/**
 * Returns the place of a market: the median coordinates of its first 25 projects, which an outlier hardly moves.
 * Returns null if none of these has coordinates. The first call for a dataset reads all of the dataset's projects.
 */
export function placeOfMarket(model: ReadModel, title: string): Coordinates {
  const places = getOrCompute(known, model, () => new Map<string, Coordinates>());
  const name = fold(title);
  const kept = places.get(name);
  if (kept !== undefined) return kept;
  const bounds = { limit: projectsMax, offset: 0 };
  const { positions } = model.select("project", { market: [title] }, bounds);
  const place = middleOf(readDocuments<Project>(model.parts.documents.project, positions));
  places.set(name, place);
  return place;
}

/** Returns the median coordinates of the projects that have any; null if none has. */
function middleOf(projects: readonly Pick<Project, "latitude" | "longitude">[]) {
  const latitude = median(projects.flatMap((project) => project.latitude ?? []));
  const longitude = median(projects.flatMap((project) => project.longitude ?? []));
  return latitude === undefined || longitude === undefined ? null : { latitude, longitude };
}

const median = (values: readonly number[]): number | undefined =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
