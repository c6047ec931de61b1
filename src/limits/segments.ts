/** The files of the journal one after another: a new one at each start and each hour, none kept over a day too long. */
import { deleteSegments, type FinishedSegment, nextSegmentPath } from "./journal-folder.ts";
import {
  createSegment,
  retireSegment,
  type Segment,
  syncAndRetire,
  syncSegment,
  writeRecords,
} from "./segment.ts";
import { dayMicroseconds } from "./sliding-windows.ts";

interface Segments {
  /** Writes records and returns how many are wholly in the file. @throws if nothing can be written. */
  write: (records: Buffer, nowMicroseconds: number) => number;
  /** Rejects if what is written cannot be brought to the disk, or no file could be made. */
  sync: () => Promise<void>;
  /** Syncs and closes. Never throws. */
  close: () => void;
}

const segmentMicroseconds = 3600e6;
const retryMicroseconds = 1e6;

/** @param finished what earlier runs left. @param onFault hears of a sync that failed after its file was done with. */
export function openSegments(
  folder: string,
  bootId: string,
  finished: readonly FinishedSegment[],
  onFault: (error: unknown) => void,
): Segments {
  let current: Segment | null = null;
  let nextAt = Number.NEGATIVE_INFINITY;
  let newestMicroseconds = Number.NEGATIVE_INFINITY;

  const finish = (segment: Segment) => {
    finished = [...finished, { path: segment.path, newestMicroseconds }];
    syncSegment(segment).catch(onFault);
    retireSegment(segment);
  };
  const begin = (now: number): Segment => {
    const next = createSegment(nextSegmentPath(folder), bootId);
    if (current !== null) finish(current);
    nextAt = now + segmentMicroseconds;
    finished = deleteSegments(finished, now - dayMicroseconds);
    return next;
  };
  const segmentFor = (now: number): Segment => {
    if (current !== null && now < nextAt) return current;
    try {
      current = begin(now);
    } catch (error) {
      if (current === null) throw error;
      // The old file serves as well for a while: nothing is lost by it.
      nextAt = now + retryMicroseconds;
    }
    return current;
  };

  return {
    write(records, now) {
      const segment = segmentFor(now);
      newestMicroseconds = now;
      return writeRecords(segment, records);
    },
    async sync() {
      if (current === null) throw new Error("no file could be made");
      await syncSegment(current);
    },
    close() {
      try {
        if (current !== null) syncAndRetire(current);
      } catch (error) {
        onFault(error);
      }
    },
  };
}
