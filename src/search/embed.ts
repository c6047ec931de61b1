/** Puts principals and signals into the documents of their GPs, once, so that a page is only slices. */
import type { Documents } from "./documents.ts";
import { bufferOver } from "./packed-texts.ts";
import { sharedBytes, type Lists } from "./shared-arrays.ts";

/** Records of one kind embedded in a GP at most. */
export const embeddedMax = 100;

/** One list that a GP embeds, in the order of its members. */
export interface Embedded {
  /** Name of the list; `_total` is added for its true length. */
  member: string;
  documents: Documents;
  recordsOfGp: Lists;
}

/**
 * @param gps documents of GPs on their own.
 * @returns the documents as they are served, with at most 100 records in each list, without what those leave out.
 */
export function embedInGps(gps: Documents, lists: readonly Embedded[]): Documents {
  const count = gps.ownLengths.length;
  const starts = new Float64Array(new SharedArrayBuffer((count + 1) * 8));
  for (let gp = 0; gp < count; gp++)
    starts[gp + 1] =
      starts[gp]! + lengthOf(gps, gp) + lists.reduce((sum, list) => sum + listLength(list, gp), 0);
  const bytes = sharedBytes(starts[count]!);
  const target = bufferOver(bytes);
  for (let gp = 0; gp < count; gp++) {
    const start = gps.starts[gp]!;
    const own = gps.ownLengths[gp]!;
    bytes.set(gps.bytes.subarray(start, start + own), starts[gp]);
    let end = starts[gp]! + own;
    for (const list of lists) end = writeList(target, end, list, gp);
    target.write("}", end);
  }
  return { bytes, starts, ownLengths: gps.ownLengths };
}

/** Own part and closing brace. */
const lengthOf = ({ ownLengths }: Documents, at: number) => ownLengths[at]! + 1;

const opening = ({ member }: Embedded) => `,"${member}":[`;
const closing = ({ member }: Embedded, total: number) => `],"${member}_total":${total}`;

function listLength(list: Embedded, gp: number): number {
  const { starts, items } = list.recordsOfGp;
  const total = starts[gp + 1]! - starts[gp]!;
  const embedded = Math.min(total, embeddedMax);
  let length = opening(list).length + closing(list, total).length + Math.max(0, embedded - 1);
  for (let i = 0; i < embedded; i++) length += lengthOf(list.documents, items[starts[gp]! + i]!);
  return length;
}

function writeList(target: Buffer, at: number, list: Embedded, gp: number): number {
  const { starts, items } = list.recordsOfGp;
  const { bytes, starts: places, ownLengths } = list.documents;
  const total = starts[gp + 1]! - starts[gp]!;
  let end = at + target.write(opening(list), at);
  for (let i = 0; i < Math.min(total, embeddedMax); i++) {
    const record = items[starts[gp]! + i]!;
    if (i > 0) end += target.write(",", end);
    const place = places[record]!;
    target.set(bytes.subarray(place, place + ownLengths[record]!), end);
    end += ownLengths[record]!;
    end += target.write("}", end);
  }
  return end + target.write(closing(list, total), end);
}
