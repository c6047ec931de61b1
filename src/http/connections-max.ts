/** How many connections may be open at a time, where no setting says so. */

const shareOfOpenFiles = 0.9;
/** Databases, datasets, counts and the log, with room for a dataset that is being loaded. */
const otherFilesMin = 100;
const most = 20_000;
const whereUnknown = 8000;

/** @param openFilesMax the limit of the process; null where it cannot be known. */
export function connectionsMaxFor(openFilesMax: number | null): number {
  if (openFilesMax === null) return whereUnknown;
  const left = Math.min(openFilesMax * shareOfOpenFiles, openFilesMax - otherFilesMin);
  return Math.max(1, Math.min(most, Math.floor(left)));
}
