/** The files of the journal: a new segment at each start and each hour, deleted when its records are a day old. */
import { closeSync, fdatasync, fdatasyncSync, openSync, rmSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { crc32 } from "node:zlib";
import { deleteSegments, type FinishedSegment, nextSegmentPath } from "./journal-folder.ts";
import { dayMicroseconds } from "./sliding-log.ts";

interface Segments {
  /** Writes records and returns how many are whole in the file. @throws if nothing can be written. */
  write: (records: Buffer, nowMicroseconds: number) => number;
  /** Syncs the written records to the disk. Rejects if that fails, or if no file could be created. */
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
      // Writing to the old file a little longer loses nothing.
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
  /** Offset of the next record. */
  bytes: number;
  /** Resolves when no sync is under way. Syncs run one after the other. */
  synced: Promise<void>;
  isInFolder: boolean;
}

const syncFile = promisify(fdatasync);

/** Creates a segment. @throws if that fails; no file is left behind. */
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
 * Writes records and returns how many are whole in the file. A record that a full disk cut off is written again by the
 * next call, at the same offset, where a reader looks for it.
 * @throws if nothing could be written.
 */
function writeRecords(segment: Segment, records: Buffer): number {
  const written = writeSync(segment.fd, records, 0, records.length, segment.bytes);
  const whole = Math.floor(written / recordBytes);
  segment.bytes += whole * recordBytes;
  return whole;
}

/** Syncs what is written so far to the disk; the first time, the folder, too. */
function syncSegment(segment: Segment): Promise<void> {
  const syncing = segment.synced.then(async () => {
    await syncFile(segment.fd);
    if (!segment.isInFolder) await syncFolder(dirname(segment.path));
    segment.isInFolder = true;
  });
  segment.synced = syncing.catch(() => {});
  return syncing;
}

/** Syncs a folder. Windows has no way to do that and needs none. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Length of a record: one admitted request, with a checksum of its own. */
export const recordBytes = 24;

interface JournalRecord {
  account: number;
  monotonicMicroseconds: number;
  wallMilliseconds: number;
}

// All records pass through this one buffer, so that none is allocated for a record or for the parts of its checksum.
// Its fields: account u32, checksum u32, monotonic µs f64, wall ms f64, all little-endian.
const bytes = Buffer.alloc(recordBytes);
const beforeChecksum = bytes.subarray(0, 4);
const afterChecksum = bytes.subarray(8);
const fields = new DataView(bytes.buffer, bytes.byteOffset, recordBytes);

/** Returns the bytes of a record, valid until the next call. */
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

/** Returns the record at an offset of a segment. Returns null if its bytes are not what was written. */
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

/** Length of a header: a whole number of records, so that each record begins at a multiple of its length. */
export const headerBytes = 3 * recordBytes;

const magic = "gpcounts";
const formatVersion = 1;
const bootIdAt = 16;

/** Returns a header: magic 8 bytes, version u32, checksum u32, boot id in UTF-8 padded with zeros; little-endian. */
function encodeHeader(bootId: string): Buffer {
  const header = Buffer.alloc(headerBytes);
  header.write(magic, 0);
  header.writeUInt32LE(formatVersion, 8);
  header.write(bootId, bootIdAt);
  header.writeUInt32LE(headerChecksum(header), 12);
  return header;
}

/**
 * Returns the boot id of a segment. Returns null if the header is damaged; the records behind it may be sound.
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
