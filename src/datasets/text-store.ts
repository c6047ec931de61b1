/** Keeps the texts of many records outside the heap, in which the garbage collector would often copy and scan them. */
import { closeSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { free } from "./stored-arrays.ts";

/** The number under which a record's texts are stored. */
export type KeptText = number;

/** The texts of many records, which another thread may have packed. */
export interface PackedRecords {
  bytes: Uint8Array<ArrayBuffer>;
  /** Three offsets for each record: start of its links, and start and end of its own part. */
  places: readonly number[];
}

/** The stored texts of a record, as offsets in `bytes`. Valid until the next read. */
export interface StoredText {
  bytes: Buffer;
  links: number;
  own: number;
  end: number;
}

/** Returns the text of a record's links. */
export const linksIn = ({ bytes, links, own }: StoredText) => bytes.toString("utf8", links, own);

/** Returns a record's own part. */
export const ownIn = ({ bytes, own, end }: StoredText) => bytes.toString("utf8", own, end);

export type TextStore = ReturnType<typeof openTextStore>;

/** Maximum number of bytes in memory; all others go to a file. 65,000 records take about 36 MB. */
const memoryBytesMax = 40 * 1024 * 1024;

const numbersOfPlace = 4;

/**
 * Opens a text store.
 * @param path file for texts that exceed the memory, created if needed and removed by `clear`.
 * @param bytesMax maximum number of bytes in memory.
 */
export function openTextStore(path: string, bytesMax = memoryBytesMax) {
  /** Packs in memory, or their offsets in the file. */
  const packs: (Buffer | number)[] = [];
  /** Four numbers for each record: its pack, and three offsets in the pack. */
  let places = new Uint32Array(1024 * numbersOfPlace);
  let count = 0;
  let bytesInMemory = 0;
  let bytesInFile = 0;
  let file: number | null = null;
  let scratch = Buffer.allocUnsafeSlow(64 * 1024);

  const storePack = (bytes: Uint8Array<ArrayBuffer>) => {
    if (bytesInMemory + bytes.length <= bytesMax) {
      packs.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
      bytesInMemory += bytes.length;
      return;
    }
    file ??= openSync(path, "w+", 0o600);
    for (let done = 0; done < bytes.length;)
      done += writeSync(file, bytes, done, bytes.length - done, bytesInFile + done);
    packs.push(bytesInFile);
    bytesInFile += bytes.length;
    free(bytes);
  };
  return {
    /** Takes over packed records. @returns the number of the first record; the others are numbered consecutively. */
    take({ bytes, places: added }: PackedRecords): KeptText {
      storePack(bytes);
      const first = count;
      count += added.length / 3;
      if (count * numbersOfPlace > places.length) {
        const longer = new Uint32Array(count * numbersOfPlace * 2);
        longer.set(places);
        free(places);
        places = longer;
      }
      for (let i = 0, at = first * numbersOfPlace; i < added.length; i += 3) {
        places[at++] = packs.length - 1;
        places[at++] = added[i]!;
        places[at++] = added[i + 1]!;
        places[at++] = added[i + 2]!;
      }
      return first;
    },
    read(kept: KeptText): StoredText {
      const at = kept * numbersOfPlace;
      const pack = packs[places[at]!]!;
      const [links, own, end] = [places[at + 1]!, places[at + 2]!, places[at + 3]!];
      if (typeof pack !== "number") return { bytes: pack, links, own, end };
      const length = end - links;
      if (length > scratch.length) scratch = Buffer.allocUnsafeSlow(length * 2);
      for (let done = 0; done < length;) {
        const read = readSync(file!, scratch, done, length - done, pack + links + done);
        if (read === 0) throw new Error(`${path} is shorter than what was written to it`);
        done += read;
      }
      return { bytes: scratch, links: 0, own: own - links, end: length };
    },
    /** Frees the memory and the disk space of all texts at once. The store cannot be used again. */
    clear(): void {
      for (const pack of packs) if (typeof pack !== "number") free(pack);
      packs.length = 0;
      if (file === null) return;
      closeSync(file);
      rmSync(path, { force: true });
      file = null;
    },
  };
}

/** Minimum size of a packer's memory, in bytes. */
const packBytes = 2 * 1024 * 1024;

/** Maximum number of UTF-8 bytes for one UTF-16 code unit. */
const unitBytesMax = 3;

/** Opens a packer, which joins texts in one array of bytes. */
export function openPacker() {
  let bytes: Buffer<ArrayBuffer> | null = null;
  let end = 0;
  let places: number[] = [];
  const makeSpace = (needed: number): Buffer<ArrayBuffer> => {
    if (bytes !== null && end + needed <= bytes.length) return bytes;
    // `allocUnsafeSlow` never takes memory from the pool that small buffers share. Unwritten pages take no memory.
    const larger = Buffer.allocUnsafeSlow(Math.max(packBytes, 2 * (end + needed)));
    if (bytes !== null) larger.set(bytes.subarray(0, end));
    return (bytes = larger);
  };
  return {
    /** Adds the texts of a record. @returns its number in the pack, from 0. */
    keep(links: string, own: string): number {
      const target = makeSpace((links.length + own.length) * unitBytesMax);
      const start = end;
      const middle = start + target.write(links, start, "utf8");
      end = middle + target.write(own, middle, "utf8");
      return places.push(start, middle, end) / 3 - 1;
    },
    /** Returns the number of bytes of the added texts. */
    bytes: () => end,
    /** Returns the added texts, and starts a new pack. */
    take(): PackedRecords {
      const taken = { bytes: (bytes ?? Buffer.allocUnsafeSlow(0)).subarray(0, end), places };
      bytes = null;
      end = 0;
      places = [];
      return taken;
    },
  };
}
