/** Tells what of a file of counts is whole, what was cut off at its end and what is damaged within. */
import { readFileSync } from "node:fs";
import { decodeRecord, recordBytes } from "#limits/journal-record.ts";
import { decodeHeader, headerBytes } from "#limits/segment-header.ts";

export interface SegmentState {
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
export function inspectSegment(path: string): SegmentState {
  const segment = readFileSync(path);
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

/** The place from which on nothing was wholly written: all space without content, and one record before it. */
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
