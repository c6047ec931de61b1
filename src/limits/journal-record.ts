/** One admitted request as 24 bytes of the journal, each record with a checksum of its own. */
import { crc32 } from "node:zlib";

export const recordBytes = 24;

interface JournalRecord {
  account: number;
  monotonicMicroseconds: number;
  wallMilliseconds: number;
}

// All records pass through this one buffer, so that none is allocated for the bytes or the parts of the checksum:
// account u32, checksum u32, monotonic µs f64, wall ms f64, all little-endian.
const bytes = Buffer.alloc(recordBytes);
const beforeChecksum = bytes.subarray(0, 4);
const afterChecksum = bytes.subarray(8);
const fields = new DataView(bytes.buffer, bytes.byteOffset, recordBytes);

/** The bytes of a record, valid until the next call. */
export function encodeRecord(
  account: number,
  monotonicMicroseconds: number,
  wallMilliseconds: number,
): Buffer {
  fields.setUint32(0, account, true);
  fields.setFloat64(8, monotonicMicroseconds, true);
  fields.setFloat64(16, wallMilliseconds, true);
  fields.setUint32(4, checksum(), true);
  return bytes;
}

/** The record at an offset of a segment; null where its bytes are not what was written. */
export function decodeRecord(segment: Buffer, offset: number): JournalRecord | null {
  segment.copy(bytes, 0, offset, offset + recordBytes);
  if (fields.getUint32(4, true) !== checksum()) return null;
  return {
    account: fields.getUint32(0, true),
    monotonicMicroseconds: fields.getFloat64(8, true),
    wallMilliseconds: fields.getFloat64(16, true),
  };
}

const checksum = () => crc32(afterChecksum, crc32(beforeChecksum));
