/** Can the counts of the quotas be read, as the next start of the server will? */
import { join } from "node:path";
import { decodeHeader, decodeRecord, headerBytes, recordBytes } from "#limits/segments.ts";
import { dayMilliseconds } from "#store/durations.ts";
import { readPlainFile } from "#store/plain-file.ts";
import { type Check, faultsOr, type Finding, unreadFile, warn } from "./check.ts";
import { namesIn } from "./kept-files.ts";

export const counts: Check = {
  name: "counts",
  look({ dataDir, now, config }) {
    // A server counts for all instances then, and what is left here means nothing.
    if (config !== null && config.databaseUrl !== null) return [];
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

/** What can be read of a file of counts, and what is cut off or damaged. */
interface SegmentState {
  /** Records that can be read. */
  whole: number;
  /** Records whose checksum is wrong, but for a torn end. */
  damaged: number;
  /** The file ends in part of a record or in space without content, as a crash leaves it. */
  isTorn: boolean;
  isHeaderDamaged: boolean;
  /** Wall clock of the newest record; null where there is none. */
  newestMilliseconds: number | null;
}

/** @throws if the file cannot be read or is of another format version. */
function inspectSegment(path: string): SegmentState {
  const segment = readPlainFile(path);
  const places = Math.max(0, Math.floor((segment.length - headerBytes) / recordBytes));
  const records = Array.from({ length: places }, (_, place) =>
    decodeRecord(segment, headerBytes + place * recordBytes),
  );
  const end = tornFrom(segment, records);
  const times = records.flatMap((record) => record?.wallMilliseconds ?? []);
  return {
    whole: times.length,
    damaged: end - times.length,
    isTorn: end < places || segment.length !== headerBytes + places * recordBytes,
    isHeaderDamaged: segment.length >= headerBytes && decodeHeader(segment) === null,
    newestMilliseconds:
      times.length === 0 ? null : times.reduce((one, other) => Math.max(one, other)),
  };
}

/** The position from which nothing was completely written: all blank space, and one record before it. */
function tornFrom(segment: Buffer, records: readonly unknown[]): number {
  let end = records.length;
  while (end > 0 && isBlank(segment, end - 1)) end--;
  return end > 0 && records[end - 1] === null ? end - 1 : end;
}

const blank = Buffer.alloc(recordBytes);

function isBlank(segment: Buffer, place: number): boolean {
  const start = headerBytes + place * recordBytes;
  return blank.equals(segment.subarray(start, start + recordBytes));
}

interface InspectedSegment {
  path: string;
  state: SegmentState | null;
  /** Why there is no state. */
  fault: string;
}

/** The files of counts, each with its state or the reason it cannot be read. */
export function inspectSegments(dataDir: string): InspectedSegment[] {
  const folder = join(dataDir, "counts");
  return namesIn(folder)
    .filter((name) => name.endsWith(".counts"))
    .map((name) => inspected(join(folder, name)))
    .filter((one) => one !== null);
}

/** Null for a file that the server deleted meanwhile. */
function inspected(path: string): InspectedSegment | null {
  try {
    return { path, state: inspectSegment(path), fault: "" };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === "ENOENT" ? null : { path, state: null, fault: message };
  }
}
