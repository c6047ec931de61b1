/** Tells whether a document that was read back says what its row says. */
import { hashOfContent } from "./dataset-hash.ts";

export type DocumentRow = readonly [
  position: number,
  id: string,
  contentHash: Uint8Array,
  updatedAt: string,
  ownLength: number,
  document: string,
];

export const documentColumns = "position, id, content_hash, updated_at, own_length, document";

const timeMember = ',"updated_at":"';

/** Where the value of `updated_at` begins and ends. */
function timeIn(document: string): [start: number, end: number] {
  // The last one is the record's own: no later member can hold another.
  const start = document.lastIndexOf(timeMember) + timeMember.length;
  return [start, document.indexOf('"', start)];
}

/** Are id and time those of the row, and ends the document, inside a GP, where its own members end? */
export function isPlaced([, id, , updatedAt, ownLength, document]: DocumentRow): boolean {
  const [start, end] = timeIn(document);
  return (
    document.startsWith(`{"id":"${id}",`) &&
    document.slice(start, end) === updatedAt &&
    Buffer.byteLength(document.slice(0, end + 1)) === ownLength
  );
}

/** Has the content of the document the hash of its row? */
export function isUnchanged([, , contentHash, , , document]: DocumentRow): boolean {
  const [start, end] = timeIn(document);
  const hash = hashOfContent(document.slice(0, start) + document.slice(end));
  return hash === Buffer.from(contentHash).toString("hex");
}
