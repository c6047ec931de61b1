/** The files of the journal: a new segment at each start and each hour, deleted once its records are a day old. */
import { closeSync, fdatasync, fdatasyncSync, openSync, rmSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { crc32 } from "node:zlib";
import { deleteSegments, type FinishedSegment, nextSegmentPath } from "./journal-folder.ts";
import { dayMicroseconds } from "./sliding-log.ts";

interface Segments {
  /** Writes records and returns how many are completely in the file. @throws if nothing can be written. */
  write: (records: Buffer, nowMicroseconds: number) => number;
  /** Rejects if the written records cannot be synced to the disk, or no file could be created. */
  sync: () => Promise<void>;
  /** Syncs and closes. Never throws. */
  close: () => void;
}

const segmentMicroseconds = 3600e6;
const retryMicroseconds = 1e6;

/** @param finished segments of earlier runs. @param onFault called when the sync of a finished segment fails. */
export function openSegments(
  folder: string,
  bootId: string,
  finished: readonly FinishedSegment[],
  onFault: (error: unknown) => void,
): Segments {
  let current: Segment | null = null;
  let nextAt = Number.NEGATIVE_INFINITY;
  let newestMicroseconds = Number.NEGATIVE_INFINITY;

  const finish = (segment: Segment) => {
    finished = [...finished, { path: segment.path, newestMicroseconds }];
    void syncSegment(segment)
      .catch(onFault)
      .then(() => closeSync(segment.fd));
  };
  const begin = (now: number): Segment => {
    const next = createSegment(nextSegmentPath(folder), bootId);
    if (current !== null) finish(current);
    nextAt = now + segmentMicroseconds;
    finished = deleteSegments(finished, now - dayMicroseconds);
    return next;
  };
  const segmentFor = (now: number): Segment => {
    if (current !== null && now < nextAt) return current;
    try {
      current = begin(now);
    } catch (error) {
      if (current === null) throw error;
      // Nothing is lost by writing to the old file for a while longer.
      nextAt = now + retryMicroseconds;
    }
    return current;
  };

  return {
    write(records, now) {
      const segment = segmentFor(now);
      newestMicroseconds = now;
      return writeRecords(segment, records);
    },
    async sync() {
      if (current === null) throw new Error("no file could be made");
      await syncSegment(current);
    },
    close() {
      if (current === null) return;
      const { fd, synced } = current;
      try {
        fdatasyncSync(fd);
      } catch (error) {
        onFault(error);
      }
      void synced.then(() => closeSync(fd));
    },
  };
}

/** One file of the journal while it is written: records at fixed offsets, on disk once `syncSegment` is done. */
interface Segment {
  readonly path: string;
  readonly fd: number;
  /** Where the next record goes. */
  bytes: number;
  /** Resolves when no sync is under way; one comes after the other. */
  synced: Promise<void>;
  isInFolder: boolean;
}

const syncFile = promisify(fdatasync);

/** @throws if the file cannot be created; none is left behind. */
function createSegment(path: string, bootId: string): Segment {
  const fd = openSync(path, "wx", 0o600);
  try {
    if (writeSync(fd, encodeHeader(bootId), 0, headerBytes, 0) < headerBytes)
      throw new Error("ENOSPC: only a part could be written");
  } catch (error) {
    closeSync(fd);
    rmSync(path, { force: true });
    throw error;
  }
  return { path, fd, bytes: headerBytes, synced: Promise.resolve(), isInFolder: false };
}

/**
 * Writes records and returns how many are completely in the file. A record that a full disk cut off is written again at
 * the same offset by the next call, so that records stay where a reader looks for them.
 * @throws if nothing could be written.
 */
function writeRecords(segment: Segment, records: Buffer): number {
  const written = writeSync(segment.fd, records, 0, records.length, segment.bytes);
  const whole = Math.floor(written / recordBytes);
  segment.bytes += whole * recordBytes;
  return whole;
}

/** Syncs what is written so far to the disk, and the first time also the folder. */
function syncSegment(segment: Segment): Promise<void> {
  const syncing = segment.synced.then(async () => {
    await syncFile(segment.fd);
    if (!segment.isInFolder) await syncFolder(dirname(segment.path));
    segment.isInFolder = true;
  });
  segment.synced = syncing.catch(() => {});
  return syncing;
}

/** Windows has no way to sync a folder and needs none. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** One admitted request as 24 bytes of the journal, each record with a checksum of its own. */
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
  fields.setUint32(4, recordChecksum(), true);
  return bytes;
}

/** The record at an offset of a segment; null where its bytes are not what was written. */
export function decodeRecord(segment: Buffer, offset: number): JournalRecord | null {
  segment.copy(bytes, 0, offset, offset + recordBytes);
  if (fields.getUint32(4, true) !== recordChecksum()) return null;
  return {
    account: fields.getUint32(0, true),
    monotonicMicroseconds: fields.getFloat64(8, true),
    wallMilliseconds: fields.getFloat64(16, true),
  };
}

const recordChecksum = () => crc32(afterChecksum, crc32(beforeChecksum));

/** A whole number of records, so that every record begins at a multiple of its length. */
export const headerBytes = 3 * recordBytes;

const magic = "gpcounts";
const formatVersion = 1;
const bootIdAt = 16;

/** Magic 8 bytes, version u32, checksum u32, boot id in UTF-8 padded with zeros; numbers little-endian. */
function encodeHeader(bootId: string): Buffer {
  const header = Buffer.alloc(headerBytes);
  header.write(magic, 0);
  header.writeUInt32LE(formatVersion, 8);
  header.write(bootId, bootIdAt);
  header.writeUInt32LE(headerChecksum(header), 12);
  return header;
}

/**
 * The boot id of a segment; null where the header is damaged, which says nothing about the records behind it.
 * @throws if another version of the format wrote it.
 */
export function decodeHeader(segment: Buffer): string | null {
  const header = segment.subarray(0, headerBytes);
  if (
    header.toString("latin1", 0, 8) !== magic ||
    header.readUInt32LE(12) !== headerChecksum(header)
  )
    return null;
  const version = header.readUInt32LE(8);
  if (version !== formatVersion)
    throw new Error(`it has format ${version}, this program reads ${formatVersion}`);
  return header.toString("utf8", bootIdAt).replace(/\0+$/, "");
}

const headerChecksum = (header: Buffer) =>
  crc32(header.subarray(bootIdAt), crc32(header.subarray(0, 12)));
