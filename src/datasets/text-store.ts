/** Keeps the texts of many records outside the heap: the garbage collector would copy and scan a million of them repeatedly. */
import { closeSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { free } from "./stored-arrays.ts";

/** The place where the texts of a record are stored. */
export type KeptText = number;

/** The texts of many records, which another thread may have packed. */
export interface PackedRecords {
  bytes: Uint8Array<ArrayBuffer>;
  /** Three places for each record: start of its links, start of its own part, and end of that. */
  places: readonly number[];
}

/** The stored texts of a record, valid until the next read. Its places are in `bytes`. */
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

/** Maximum bytes in memory; all others go to a file. 65,000 records take about 36 MB. */
const memoryBytesMax = 40 * 1024 * 1024;

const numbersOfPlace = 4;

/**
 * @param path file for texts beyond the memory, created if needed and removed at the end.
 * @param bytesMax maximum bytes in memory.
 */
export function openTextStore(path: string, bytesMax = memoryBytesMax) {
  /** Packs in memory, or their places in the file. */
  const packs: (Buffer | number)[] = [];
  /** Number of each record's pack, and its place there. */
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
    /** Takes packed bytes over. @returns the place of the first record; the others follow, one higher each. */
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
        if (read === 0) throw new Error(`${path} ends before what was written to it`);
        done += read;
      }
      return { bytes: scratch, links: 0, own: own - links, end: length };
    },
    /** Frees the memory and the disk space of all texts at once. */
    clear(): void {
      for (const pack of packs) if (typeof pack !== "number") free(pack);
      packs.length = 0;
      count = 0;
      bytesInMemory = 0;
      bytesInFile = 0;
      if (file === null) return;
      closeSync(file);
      rmSync(path, { force: true });
      file = null;
    },
  };
}

/** Size of the memory that a packer begins with, in bytes. */
const packBytes = 2 * 1024 * 1024;

/** Maximum bytes of UTF-8 for one UTF-16 code unit. */
const unitBytesMax = 3;

/** Returns a packer of texts into one array of bytes. */
export function openPacker() {
  let bytes: Buffer<ArrayBuffer> | null = null;
  let end = 0;
  let places: number[] = [];
  const makeSpace = (needed: number): Buffer<ArrayBuffer> => {
    if (bytes !== null && end + needed <= bytes.length) return bytes;
    // Never part of the pool that small buffers share. Unwritten pages take no memory.
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
    /** Returns the added texts, which are no longer the packer's. */
    take(): PackedRecords {
      const taken = { bytes: (bytes ?? Buffer.allocUnsafeSlow(0)).subarray(0, end), places };
      bytes = null;
      end = 0;
      places = [];
      return taken;
    },
  };
}
