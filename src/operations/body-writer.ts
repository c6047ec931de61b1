/** Puts an answer together from stored documents and a little text, in bytes. */
import type { Documents } from "#search/documents.ts";

export interface BodyWriter {
  text(text: string): void;
  /** Copies bytes `from` up to `to` of the documents. */
  copy(documents: Documents, from: number, to: number): void;
  finish(): Buffer;
}

/** Kept between answers; most pages fit, and a rare larger one is not held on to. */
let scratch = Buffer.allocUnsafe(256 * 1024);
const scratchBytesMax = 4 * 1024 * 1024;

/** One body at a time: what was begun before is given up. */
export function beginBody(): BodyWriter {
  let end = 0;
  const makeRoom = (bytes: number) => {
    if (end + bytes <= scratch.length) return;
    const larger = Buffer.allocUnsafe(Math.max(end + bytes, scratch.length * 2));
    scratch.copy(larger, 0, 0, end);
    scratch = larger;
  };
  return {
    text(text) {
      makeRoom(text.length * 3);
      end += scratch.write(text, end);
    },
    copy({ bytes }, from, to) {
      makeRoom(to - from);
      scratch.set(bytes.subarray(from, to), end);
      end += to - from;
    },
    finish() {
      const body = Buffer.from(scratch.subarray(0, end));
      if (scratch.length > scratchBytesMax) scratch = Buffer.allocUnsafe(256 * 1024);
      return body;
    },
  };
}
