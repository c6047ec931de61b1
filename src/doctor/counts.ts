/** Can the counts of the quotas be read, as the next start of the server will? */
import { type Check, faultsOr, type Finding, warn } from "./check.ts";
import { type InspectedSegment, inspectSegments } from "./segments.ts";
import { unreadFile } from "./unread-file.ts";

const dayMilliseconds = 86_400_000;

export const counts: Check = {
  name: "counts",
  look({ dataDir, now }) {
    const segments = inspectSegments(dataDir);
    return faultsOr(segments.flatMap(faultsOf), wellText(segments, now));
  },
};

function faultsOf({ path, state, fault }: InspectedSegment): Finding[] {
  const unread = state === null ? unreadFile([path]) : [];
  if (unread.length > 0) return unread;
  if (state === null)
    return [
      warn(
        `${path} cannot be read (${fault}); what it counts is not held against anyone`,
        `Start the version of gp-records that wrote it; or, once it is a day old: rm ${path}`,
      ),
    ];
  const { damaged, whole, isHeaderDamaged } = state;
  const disk =
    "Nothing, for the counts: the file goes after a day. Look for a failing disk (dmesg).";
  if (damaged > 0)
    return [
      warn(
        `${path} is damaged: ${damaged} of ${damaged + whole} requests in it are not held against anyone`,
        disk,
      ),
    ];
  return isHeaderDamaged
    ? [warn(`${path} has a damaged header: its requests may be held too long, at most a day`, disk)]
    : [];
}

function wellText(segments: readonly InspectedSegment[], now: number): string {
  const states = segments.flatMap(({ state }) => state ?? []);
  const requests = states.reduce((sum, { whole }) => sum + whole, 0);
  const parts = [
    `${requests.toLocaleString("en-US")} requests in files of counts: ${segments.length}`,
  ];
  const torn = states.filter(({ isTorn }) => isTorn).length;
  if (torn > 0)
    parts.push(`${torn} cut off within a record, as a crash leaves it, which is harmless`);
  const old = states.filter(
    ({ newestMilliseconds }) => now - (newestMilliseconds ?? now) > dayMilliseconds,
  ).length;
  if (old > 0) parts.push(`${old} without one of the last day, which the server deletes`);
  return segments.length === 0 ? "nothing is counted yet" : parts.join("; ");
}
