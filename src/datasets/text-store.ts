/** Keeps many texts outside the heap, where the garbage collector would copy and scan a million of them repeatedly. */

/** Large enough for the system to reclaim it when it is freed. Pages not yet written take no memory. */
const defaultChunkBytes = 64 * 1024 * 1024;

/** Bytes of UTF-8 that one UTF-16 code unit takes at most. */
const unitBytesMax = 3;

/** Where a text is stored. */
export type KeptText = number;

export interface TextStore {
  keep(text: string): KeptText;
  textOf(kept: KeptText): string;
  /** Frees the memory of all texts at once. */
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
        // Never part of the pool that small buffers share.
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
      // Detaching frees a buffer now; the garbage collector sees no pressure on its own heap and would leave it.
      for (const { buffer } of chunks) buffer.transfer(0);
      chunks.length = 0;
      places.length = 0;
    },
  };
}
