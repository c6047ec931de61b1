/** Reads a tar archive from beginning to end, piece by piece, from a file or a pipe. */
import { blockBytes, decodeHeader, paddingBytes, type TarEntry } from "./tar-header.ts";

export interface TarReader {
  /** The next file, whose content has to be read before the one after it; null at the end. */
  next(): Promise<TarEntry | null>;
  /** The content of the file that `next` named last, in pieces. */
  content(): AsyncGenerator<Buffer, void>;
}

/** What both throw is an Error whose message is the end of a sentence that begins with the archive. */
export function readTar(source: AsyncIterable<Buffer>): TarReader {
  const pieces = source[Symbol.asyncIterator]();
  let held: Buffer = Buffer.alloc(0);
  let left = 0;
  let padding = 0;

  /** At least one byte and at most `most`. */
  const take = async (most: number): Promise<Buffer> => {
    while (held.length === 0) {
      const { done = false, value } = await pieces.next();
      if (done) throw new Error("it was cut off");
      held = value as Buffer;
    }
    const taken = held.subarray(0, most);
    held = held.subarray(taken.length);
    return taken;
  };
  const takeExactly = async (bytes: number): Promise<Buffer> => {
    const taken: Buffer[] = [];
    for (let missing = bytes; missing > 0; missing -= taken.at(-1)!.length)
      taken.push(await take(missing));
    return Buffer.concat(taken);
  };

  return {
    async next() {
      await takeExactly(padding);
      const entry = decodeHeader(await takeExactly(blockBytes));
      left = entry?.bytes ?? 0;
      padding = paddingBytes(left);
      return entry;
    },
    async *content() {
      while (left > 0) {
        const piece = await take(left);
        left -= piece.length;
        yield piece;
      }
    },
  };
}
