/** Reads one file of the journal, whatever a crash or a bad disk left of it. */
import { readFileSync } from "node:fs";
import type { Moment } from "./bridge.ts";
import { decodeRecord, recordBytes } from "./journal-record.ts";
import { decodeHeader, headerBytes } from "./segment-header.ts";

export interface SegmentContent {
  /** null where the header is damaged. */
  bootId: string | null;
  count: number;
  /** Of each request, in the first `count` places. */
  accounts: Uint32Array;
  monotonicMicroseconds: Float64Array;
  /** Both clocks at the newest record; null where there is none. */
  last: Moment | null;
}

/**
 * Everything readable in a segment; records whose checksum is wrong, a torn last one among them, are passed over.
 * @throws if the file cannot be read or is of another format version.
 */
export function readSegment(path: string): SegmentContent {
  const segment = readFileSync(path);
  const places = Math.max(0, Math.floor((segment.length - headerBytes) / recordBytes));
  const content: SegmentContent = {
    bootId: places === 0 ? null : decodeHeader(segment),
    count: 0,
    accounts: new Uint32Array(places),
    monotonicMicroseconds: new Float64Array(places),
    last: null,
  };
  for (let place = 0; place < places; place++) {
    const record = decodeRecord(segment, headerBytes + place * recordBytes);
    if (record === null) continue;
    content.accounts[content.count] = record.account;
    content.monotonicMicroseconds[content.count++] = record.monotonicMicroseconds;
    if (content.last === null || record.monotonicMicroseconds >= content.last.monotonicMicroseconds)
      content.last = record;
  }
  return content;
}
