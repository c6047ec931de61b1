/** Keeps the texts of many records in packs: large buffers that the garbage collector neither copies nor scans. */
import { closeSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { free } from "./stored-arrays.ts";

/** The number under which a record's texts are stored. */
export type KeptText = number;

/** The stored texts of a record, as offsets in `bytes`. Valid until the next read. */
export interface StoredText {
  bytes: Buffer;
  links: number;
  own: number;
  end: number;
}

export const linksIn = ({ bytes, links, own }: StoredText) => bytes.toString("utf8", links, own);

export const ownIn = ({ bytes, own, end }: StoredText) => bytes.toString("utf8", own, end);

export type TextStore = ReturnType<typeof openTextStore>;

/** Maximum number of bytes of full packs in memory; further packs go to a file. 65,000 records take about 36 MB. */
const memoryBytesMax = 40 * 1024 * 1024;

/** Minimum size of a pack, in bytes. Pages of it that are never written take no memory. */
const packBytes = 2 * 1024 * 1024;

/** Maximum number of UTF-8 bytes for one UTF-16 code unit. */
export const unitBytesMax = 3;

const numbersOfPlace = 4;

/**
 * Opens a text store.
 * @param path file for full packs beyond `bytesMax`, created if needed and removed by `clear`.
 * @param bytesMax maximum number of bytes of full packs in memory.
 */
export function openTextStore(path: string, bytesMax = memoryBytesMax) {
  /** Full packs: their bytes in memory, or their offsets in the file. */
  const packs: (Buffer | number)[] = [];
  /** The pack that is being filled, up to `end`; null if there is none. */
  let filling: Buffer<ArrayBuffer> | null = null;
  let end = 0;
  /** Four numbers for each record: its pack, and the offsets of its links, its own part and its end in the pack. */
  let places = new Uint32Array(1024 * numbersOfPlace);
  let count = 0;
  let bytesInMemory = 0;
  let bytesInFile = 0;
  let file: number | null = null;
  let scratch = Buffer.allocUnsafeSlow(64 * 1024);

  const storePack = (pack: Buffer<ArrayBuffer>, length: number) => {
    if (bytesInMemory + length <= bytesMax) {
      packs.push(pack.subarray(0, length));
      bytesInMemory += length;
      return;
    }
    file ??= openSync(path, "w+", 0o600);
    for (let done = 0; done < length;)
      done += writeSync(file, pack, done, length - done, bytesInFile + done);
    packs.push(bytesInFile);
    bytesInFile += length;
    free(pack);
  };
  return {
    keep(links: string, own: string): KeptText {
      const needed = (links.length + own.length) * unitBytesMax;
      if (filling !== null && end + needed > filling.length) {
        storePack(filling, end);
        filling = null;
      }
      // `allocUnsafeSlow` never takes memory from the pool that small buffers share.
      if (filling === null) {
        filling = Buffer.allocUnsafeSlow(Math.max(packBytes, needed));
        end = 0;
      }
      if ((count + 1) * numbersOfPlace > places.length) {
        const longer = new Uint32Array(places.length * 2);
        longer.set(places);
        free(places);
        places = longer;
      }
      const middle = end + filling.write(links, end, "utf8");
      const last = middle + filling.write(own, middle, "utf8");
      const at = count * numbersOfPlace;
      places[at] = packs.length;
      places[at + 1] = end;
      places[at + 2] = middle;
      places[at + 3] = last;
      end = last;
      return count++;
    },
    read(kept: KeptText): StoredText {
      const at = kept * numbersOfPlace;
      const pack = packs[places[at]!] ?? filling!;
      const [links, own, last] = [places[at + 1]!, places[at + 2]!, places[at + 3]!];
      if (typeof pack !== "number") return { bytes: pack, links, own, end: last };
      const length = last - links;
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
      for (const pack of [...packs, filling])
        if (pack !== null && typeof pack !== "number") free(pack);
      packs.length = 0;
      filling = null;
      if (file === null) return;
      closeSync(file);
      rmSync(path, { force: true });
      file = null;
    },
  };
}
