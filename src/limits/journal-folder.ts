/** The folder of the journal: lists its segments, names the next one, and deletes old ones. */
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/** A segment no longer written to, and the time of its newest record in µs. */
export interface FinishedSegment {
  path: string;
  newestMicroseconds: number;
}

const segmentName = /^(\d{8})\.counts$/;

/** Lists the paths of all segments, oldest first. Creates the folder if needed. @throws if that or reading it fails. */
export function listSegments(folder: string): string[] {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return segmentNames(folder).map((name) => join(folder, name));
}

/** Returns a path that sorts after all segments in the folder. @throws as `listSegments`. */
export function nextSegmentPath(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const highest = Math.max(0, ...segmentNames(folder).map((name) => Number.parseInt(name, 10)));
  return join(folder, `${String(highest + 1).padStart(8, "0")}.counts`);
}

/** Deletes segments without a record after `since`. @returns the others, with those that could not be deleted. */
export function deleteSegments(
  segments: readonly FinishedSegment[],
  sinceMicroseconds: number,
): FinishedSegment[] {
  return segments.filter(
    ({ path, newestMicroseconds }) => newestMicroseconds > sinceMicroseconds || !isDeleted(path),
  );
}

const segmentNames = (folder: string) =>
  readdirSync(folder)
    .filter((name) => segmentName.test(name))
    .sort();

function isDeleted(path: string): boolean {
  try {
    rmSync(path, { force: true });
    return true;
  } catch {
    return false;
  }
}
