/** Keeps the texts of many records outside the heap, where the garbage collector would copy and scan a million of them repeatedly. */
import { closeSync, openSync, readSync, rmSync, writeSync } from "node:fs";

/** Where the texts of a record are stored. */
export type KeptText = number;

/** The texts of many records, which another thread may have packed. */
export interface PackedRecords {
  bytes: Uint8Array<ArrayBuffer>;
  /** Of each record where its links begin, where its own part begins, and where that ends. */
  places: readonly number[];
}

/** What is stored of a record, valid up to the next read. Its places are in `bytes`. */
export interface StoredText {
  bytes: Buffer;
  links: number;
  own: number;
  end: number;
}

/** What the record says of its links. */
export const linksIn = ({ bytes, links, own }: StoredText) => bytes.toString("utf8", links, own);

/** The record's own part. */
export const ownIn = ({ bytes, own, end }: StoredText) => bytes.toString("utf8", own, end);

export interface TextStore {
  /** Takes the bytes over. @returns where the first record is stored; the others follow, one higher each. */
  take(packed: PackedRecords): KeptText;
  /** Stores a single record. */
  keep(links: string, own: string): KeptText;
  read(kept: KeptText): StoredText;
  /** Frees the memory and the disk space of all texts at once. */
  clear(): void;
}

/** Of more than this the rest is written to a file: 65,000 records take about 36 MB. */
const memoryBytesMax = 40 * 1024 * 1024;

const numbersOfPlace = 4;

/**
 * @param path of a file for what exceeds the memory; created where it is needed, and removed at the end.
 * @param bytesMax kept in memory.
 */
export function openTextStore(path: string, bytesMax = memoryBytesMax): TextStore {
  /** Packs in memory; the place of one in the file where it is there. */
  const packs: (Buffer | number)[] = [];
  /** Of each record the number of its pack, and where it stands there. */
  let places = new Uint32Array(1024 * numbersOfPlace);
  let count = 0;
  let packer = openPacker();
  /** Number of the pack that will hold what `packer` has now. */
  let packing = -1;
  let bytesInMemory = 0;
  let bytesInFile = 0;
  let file: number | null = null;
  let scratch = Buffer.allocUnsafeSlow(64 * 1024);

  const storePack = (number: number, bytes: Uint8Array<ArrayBuffer>) => {
    if (bytesInMemory + bytes.length <= bytesMax) {
      packs[number] = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
      bytesInMemory += bytes.length;
      return;
    }
    file ??= openSync(path, "w+", 0o600);
    for (let done = 0; done < bytes.length;)
      done += writeSync(file, bytes, done, bytes.length - done, bytesInFile + done);
    packs[number] = bytesInFile;
    bytesInFile += bytes.length;
    free(bytes);
  };
  const addPlace = (pack: number, links: number, own: number, end: number): KeptText => {
    if ((count + 1) * numbersOfPlace > places.length) {
      const longer = new Uint32Array(places.length * 2);
      longer.set(places);
      free(places);
      places = longer;
    }
    const at = count * numbersOfPlace;
    places[at] = pack;
    places[at + 1] = links;
    places[at + 2] = own;
    places[at + 3] = end;
    return count++;
  };
  const endPack = () => {
    if (packing < 0) return;
    storePack(packing, packer.take());
    packing = -1;
  };
  return {
    take({ bytes, places: added }) {
      const pack = packs.push(0) - 1;
      storePack(pack, bytes);
      const first = count;
      for (let i = 0; i < added.length; i += 3)
        addPlace(pack, added[i]!, added[i + 1]!, added[i + 2]!);
      return first;
    },
    keep(links, own) {
      if (packer.length() >= packBytes) endPack();
      if (packing < 0) packing = packs.push(0) - 1;
      const [start, middle, end] = packer.add(links, own);
      return addPlace(packing, start, middle, end);
    },
    read(kept) {
      const at = kept * numbersOfPlace;
      if (places[at] === packing) endPack();
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
    clear() {
      // Detaching frees a buffer now; the garbage collector sees no pressure on its own heap and would leave it.
      for (const pack of packs) if (typeof pack !== "number") free(pack);
      packs.length = 0;
      packer = openPacker();
      packing = -1;
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

/** So much is packed before it is stored or sent. */
const packBytes = 1024 * 1024;

/** Bytes of UTF-8 that one UTF-16 code unit takes at most. */
const unitBytesMax = 3;

interface Packer {
  /** @returns where its links begin, where its own part begins, and where that ends. */
  add(links: string, own: string): [links: number, own: number, end: number];
  length(): number;
  /** What was added, which is no longer the packer's. */
  take(): Uint8Array<ArrayBuffer>;
}

/** Packs texts into one array of bytes. */
export function openPacker(): Packer {
  let bytes: Buffer<ArrayBuffer> | null = null;
  let end = 0;
  const makeSpace = (needed: number): Buffer<ArrayBuffer> => {
    if (bytes !== null && end + needed <= bytes.length) return bytes;
    // Never part of the pool that small buffers share. Pages that are not written to take no memory.
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * packBytes, 2 * (end + needed)));
    if (bytes !== null) larger.set(bytes.subarray(0, end));
    return (bytes = larger);
  };
  return {
    add(links, own) {
      const target = makeSpace((links.length + own.length) * unitBytesMax);
      const start = end;
      const middle = start + target.write(links, start, "utf8");
      end = middle + target.write(own, middle, "utf8");
      return [start, middle, end];
    },
    length: () => end,
    take() {
      const taken = (bytes ?? Buffer.allocUnsafeSlow(0)).subarray(0, end);
      bytes = null;
      end = 0;
      return taken;
    },
  };
}

const free = ({ buffer }: { buffer: ArrayBufferLike }) => void (buffer as ArrayBuffer).transfer(0);
