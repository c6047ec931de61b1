/** Keeps many texts outside the heap: a million of them there would be copied and searched again and again. */

/** So large that the system takes it back when it is freed. What is not written yet takes no memory. */
const defaultChunkBytes = 64 * 1024 * 1024;

/** Bytes of UTF-8 that one UTF-16 code unit takes at most. */
const unitBytesMax = 3;

/** Where a text is; as long as the text is needed. */
export type KeptText = number;

export interface TextStore {
  keep(text: string): KeptText;
  textOf(kept: KeptText): string;
  /** Gives the memory of all texts back at once. */
  clear(): void;
}

export function openTextStore(chunkBytes = defaultChunkBytes): TextStore {
  const chunks: Buffer<ArrayBuffer>[] = [];
  /** Of each text the number of its chunk, and where it begins and ends there. */
  const places: number[] = [];
  let end = 0;
  return {
    keep(text) {
      let chunk = chunks.at(-1);
      if (chunk === undefined || end + text.length * unitBytesMax > chunk.length) {
        // Slow is what is never part of the pool that all other buffers share.
        chunk = Buffer.allocUnsafeSlow(Math.max(chunkBytes, text.length * unitBytesMax));
        chunks.push(chunk);
        end = 0;
      }
      const start = end;
      end += chunk.write(text, start, "utf8");
      return places.push(chunks.length - 1, start, end) - 3;
    },
    textOf: (kept) => chunks[places[kept]!]!.toString("utf8", places[kept + 1], places[kept + 2]),
    clear() {
      // Detached, a buffer is gone; else it would wait for the garbage collector, whose heap is in no need.
      for (const { buffer } of chunks) buffer.transfer(0);
      chunks.length = 0;
      places.length = 0;
    },
  };
}
