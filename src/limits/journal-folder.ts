/** The folder of the journal: which segments it has, what the next one is called, and which are deleted. */
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/** A segment that is no longer written to, and the time of its newest record in µs. */
export interface FinishedSegment {
  path: string;
  newestMicroseconds: number;
}

const segmentName = /^(\d{8})\.counts$/;

/** Paths of all segments, oldest first; creates the folder if needed. @throws if it can be neither read nor created. */
export function listSegments(folder: string): string[] {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return segmentNames(folder).map((name) => join(folder, name));
}

/** A path above all others in the folder. @throws as `listSegments`. */
export function nextSegmentPath(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const highest = Math.max(0, ...segmentNames(folder).map((name) => Number.parseInt(name, 10)));
  return join(folder, `${String(highest + 1).padStart(8, "0")}.counts`);
}

/** Deletes segments without a record after `since`. @returns the others, and those that could not be deleted. */
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
