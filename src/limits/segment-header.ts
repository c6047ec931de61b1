/** The header of a segment of the journal: its format, and the boot that its times count from. */
import { crc32 } from "node:zlib";
import { recordBytes } from "./journal-record.ts";

/** A whole number of records, so that every record begins at a multiple of its length. */
export const headerBytes = 3 * recordBytes;

const magic = "gpcounts";
const formatVersion = 1;
const bootIdAt = 16;

/** Magic 8 bytes, version u32, checksum u32, boot id in UTF-8 padded with zeros; numbers little-endian. */
export function encodeHeader(bootId: string): Buffer {
  const header = Buffer.alloc(headerBytes);
  header.write(magic, 0);
  header.writeUInt32LE(formatVersion, 8);
  header.write(bootId, bootIdAt);
  header.writeUInt32LE(checksum(header), 12);
  return header;
}

/**
 * The boot id of a segment; null where the header is damaged, which says nothing about the records behind it.
 * @throws if another version of the format wrote it.
 */
export function decodeHeader(segment: Buffer): string | null {
  const header = segment.subarray(0, headerBytes);
  if (header.toString("latin1", 0, 8) !== magic || header.readUInt32LE(12) !== checksum(header))
    return null;
  const version = header.readUInt32LE(8);
  if (version !== formatVersion)
    throw new Error(`it has format ${version}, this program reads ${formatVersion}`);
  return header.toString("utf8", bootIdAt).replace(/\0+$/, "");
}

const checksum = (header: Buffer) =>
  crc32(header.subarray(bootIdAt), crc32(header.subarray(0, 12)));
