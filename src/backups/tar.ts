/** Writes and reads tar archives in pieces. The format is POSIX ustar, with GNU tar's encoding of sizes from 8 GiB. */
import { createHash } from "node:crypto";
import { BackupFault } from "./backup-fault.ts";
import type { ManifestFile } from "./manifest.ts";

export interface Content extends ManifestFile {
  read(): AsyncIterable<Buffer>;
}

/** Function that accepts the next bytes, and resolves when it is ready for more. */
export type Sink = (bytes: Buffer) => Promise<void>;

export type Written = Awaited<ReturnType<typeof writeTar>>;

/**
 * Writes an archive. Returns its size and its SHA-256, as `sha256sum` prints it.
 * @throws BackupFault if a file's size or SHA-256 is not as given; the archive is then useless.
 */
export async function writeTar(files: readonly Content[], nowMilliseconds: number, sink: Sink) {
  const digest = createHash("sha256");
  let bytes = 0;
  const put = async (piece: Buffer) => {
    digest.update(piece);
    bytes += piece.length;
    await sink(piece);
  };
  for (const file of files) {
    await put(encodeHeader(file, Math.floor(nowMilliseconds / 1000)));
    await putContent(file, put);
    await put(Buffer.alloc(paddingBytes(file.bytes)));
  }
  await put(Buffer.alloc(2 * blockBytes));
  return { bytes, sha256: digest.digest("hex") };
}

async function putContent(file: Content, put: Sink): Promise<void> {
  const digest = createHash("sha256");
  let bytes = 0;
  for await (const piece of file.read()) {
    digest.update(piece);
    bytes += piece.length;
    await put(piece);
  }
  if (bytes !== file.bytes || digest.digest("hex") !== file.sha256)
    throw new BackupFault(
      `No usable backup was made: ${file.path} changed while it was being backed up. Try again.`,
    );
}

export type TarReader = ReturnType<typeof readTar>;

/** Returns a reader. The messages of its errors are clauses about the archive, such as `it was cut off`. */
export function readTar(source: AsyncIterable<Buffer>) {
  const pieces = source[Symbol.asyncIterator]();
  let buffered: Buffer = Buffer.alloc(0);
  let left = 0;
  let padding = 0;

  /** Returns at least one byte and at most `most` bytes. @throws Error if the archive has ended. */
  const take = async (most: number): Promise<Buffer> => {
    while (buffered.length === 0) {
      const { done = false, value } = await pieces.next();
      if (done) throw new Error("it was cut off");
      buffered = value as Buffer;
    }
    const taken = buffered.subarray(0, most);
    buffered = buffered.subarray(taken.length);
    return taken;
  };
  const takeExactly = async (bytes: number): Promise<Buffer> => {
    const taken: Buffer[] = [];
    for (let missing = bytes; missing > 0; missing -= taken.at(-1)!.length)
      taken.push(await take(missing));
    return Buffer.concat(taken);
  };

  return {
    /** Returns the next file's entry; null at the end of the archive. Read the previous file's content first. */
    async next(): Promise<TarEntry | null> {
      await takeExactly(padding);
      const entry = decodeHeader(await takeExactly(blockBytes));
      left = entry?.bytes ?? 0;
      padding = paddingBytes(left);
      return entry;
    },
    /** Yields the content of the file that `next` returned last. */
    async *content(): AsyncGenerator<Buffer, void> {
      while (left > 0) {
        const piece = await take(left);
        left -= piece.length;
        yield piece;
      }
    },
  };
}

interface TarEntry {
  /** Path of at most 100 ASCII characters. */
  path: string;
  bytes: number;
}

const blockBytes = 512;

/** Returns the number of zero bytes after a file, so that the next header starts on a block boundary. */
const paddingBytes = (bytes: number) => (blockBytes - (bytes % blockBytes)) % blockBytes;

// https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html, "ustar Interchange Format"
const at = { mode: 100, size: 124, time: 136, checksum: 148, type: 156, magic: 257 };
const sizeDigits = 11;
const largestOctal = 8 ** sizeDigits - 1;
const plainFile = "0";

/** Returns the header of a plain file that only its owner may read or write. */
export function encodeHeader({ path, bytes }: TarEntry, timeSeconds: number): Buffer {
  const header = Buffer.alloc(blockBytes);
  header.write(path, 0, 100, "latin1");
  // The mode, and `root` as owner and group.
  header.write(`0000600\0${"0000000\0".repeat(2)}`, at.mode, "latin1");
  if (bytes <= largestOctal) header.write(`${octal(bytes, sizeDigits)}\0`, at.size, "latin1");
  else {
    header.writeBigUInt64BE(BigInt(bytes), at.size + 4);
    header[at.size] = 0x80;
  }
  header.write(`${octal(timeSeconds, sizeDigits)}\0`, at.time, "latin1");
  header.write(plainFile, at.type, "latin1");
  header.write("ustar\u000000", at.magic, "latin1");
  header.write(`${octal(checksum(header), 6)}\0 `, at.checksum, "latin1");
  return header;
}

/**
 * Reads a header. Returns null for the block of zeros that ends an archive.
 * @throws Error if the block is not a header, or not a plain file's.
 */
export function decodeHeader(header: Buffer): TarEntry | null {
  if (header.every((byte) => byte === 0)) return null;
  if (Number.parseInt(textAt(header, at.checksum, 8), 8) !== checksum(header))
    throw new Error("it contains something that is not a tar header");
  const path = textAt(header, 0, 100);
  if (textAt(header, at.type, 1) !== plainFile)
    throw new Error(`'${path}' in it is not a plain file`);
  return { path, bytes: readSize(header) };
}

const readSize = (header: Buffer) =>
  header[at.size] === 0x80
    ? Number(header.readBigUInt64BE(at.size + 4))
    : Number.parseInt(textAt(header, at.size, 12), 8);

/** Returns the sum of a header's bytes. The eight bytes of the checksum itself count as spaces. */
function checksum(header: Buffer): number {
  let sum = 8 * 0x20;
  for (let place = 0; place < blockBytes; place++)
    if (place < at.checksum || place >= at.checksum + 8) sum += header[place]!;
  return sum;
}

const octal = (value: number, digits: number) => value.toString(8).padStart(digits, "0");

const textAt = (header: Buffer, start: number, length: number) =>
  header.toString("latin1", start, start + length).replace(/[\0 ]+.*$/s, "");
