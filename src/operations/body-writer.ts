/** Puts an answer together from stored documents and a little text, in bytes. */
import type { Documents } from "#search/documents.ts";

export interface BodyWriter {
  text(text: string): void;
  /** Adds a few bytes one by one: that is ten times as fast as text. */
  bytes(bytes: Uint8Array): void;
  /** Copies bytes `from` up to `to` of the documents. */
  copy(documents: Documents, from: number, to: number): void;
  /** The body is a piece of a block it shares with others, so whoever keeps it for long takes a copy. */
  finish(): Buffer;
}

/**
 * Bodies lie one behind the other in blocks: a buffer for each would have V8 look for garbage every few dozen of them.
 * No larger, as a client that is slow to read one body holds its whole block.
 */
const blockBytes = 256 * 1024;
let block = Buffer.allocUnsafeSlow(blockBytes);
/** Where the next body begins. */
let free = 0;

/** One body at a time: what was begun before is given up. */
export function beginBody(): BodyWriter {
  let start = free;
  let end = free;
  const makeRoom = (bytes: number) => {
    if (end + bytes <= block.length) return;
    const begun = block.subarray(start, end);
    block = Buffer.allocUnsafeSlow(Math.max(blockBytes, (begun.length + bytes) * 2));
    block.set(begun);
    start = 0;
    end = begun.length;
  };
  return {
    text(text) {
      makeRoom(text.length * 3);
      end += block.write(text, end);
    },
    bytes(bytes) {
      makeRoom(bytes.length);
      for (let i = 0; i < bytes.length; i++) block[end++] = bytes[i]!;
    },
    copy({ bytes }, from, to) {
      makeRoom(to - from);
      block.set(bytes.subarray(from, to), end);
      end += to - from;
    },
    finish() {
      free = end;
      return block.subarray(start, end);
    },
  };
}
