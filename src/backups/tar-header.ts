/** One entry's header in a tar archive, so that any tar reads a backup: POSIX ustar, sizes over 8 GiB as GNU tar has them. */

export const blockBytes = 512;

export interface TarEntry {
  /** ASCII, at most 100 characters. */
  path: string;
  bytes: number;
}

// https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html, "ustar Interchange Format"
const at = {
  mode: 100,
  owner: 108,
  group: 116,
  size: 124,
  time: 136,
  checksum: 148,
  type: 156,
  magic: 257,
};
const sizeDigits = 11;
const largestOctal = 8 ** sizeDigits - 1;
const file = "0";

/** A plain file that only its owner may read. */
export function encodeHeader({ path, bytes }: TarEntry, timeSeconds: number): Buffer {
  const header = Buffer.alloc(blockBytes);
  header.write(path, 0, 100, "latin1");
  header.write("0000600\0", at.mode, "latin1");
  header.write("0000000\0", at.owner, "latin1");
  header.write("0000000\0", at.group, "latin1");
  writeSize(header, bytes);
  header.write(`${octal(timeSeconds, sizeDigits)}\0`, at.time, "latin1");
  header.write(file, at.type, "latin1");
  header.write("ustar\u000000", at.magic, "latin1");
  header.write(`${octal(checksum(header), 6)}\0 `, at.checksum, "latin1");
  return header;
}

/**
 * Null for the block of zeros that ends an archive.
 * @throws Error where it is no header, or one of anything but a plain file.
 */
export function decodeHeader(header: Buffer): TarEntry | null {
  if (header.every((byte) => byte === 0)) return null;
  if (Number.parseInt(textAt(header, at.checksum, 8), 8) !== checksum(header))
    throw new Error("it holds something that is no header of a tar archive");
  const path = textAt(header, 0, 100);
  if (textAt(header, at.type, 1) !== file) throw new Error(`'${path}' in it is not a plain file`);
  return { path, bytes: readSize(header) };
}

/** How many bytes of zeros follow a file, so that the next header begins at a whole block. */
export const paddingBytes = (bytes: number) => (blockBytes - (bytes % blockBytes)) % blockBytes;

function writeSize(header: Buffer, bytes: number): void {
  if (bytes <= largestOctal) {
    header.write(`${octal(bytes, sizeDigits)}\0`, at.size, "latin1");
    return;
  }
  header.writeBigUInt64BE(BigInt(bytes), at.size + 4);
  header[at.size] = 0x80;
}

const readSize = (header: Buffer) =>
  header[at.size] === 0x80
    ? Number(header.readBigUInt64BE(at.size + 4))
    : Number.parseInt(textAt(header, at.size, 12), 8);

/** The sum of all bytes, its own eight taken for spaces. */
function checksum(header: Buffer): number {
  let sum = 8 * 0x20;
  for (let place = 0; place < blockBytes; place++)
    if (place < at.checksum || place >= at.checksum + 8) sum += header[place]!;
  return sum;
}

const octal = (value: number, digits: number) => value.toString(8).padStart(digits, "0");

const textAt = (header: Buffer, start: number, length: number) =>
  header.toString("latin1", start, start + length).replace(/[\0 ]+.*$/s, "");
