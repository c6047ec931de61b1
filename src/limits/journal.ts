/**
 * Writes admitted requests to files, in batches and before their responses are sent, so that a restart forgets none.
 *
 * A segment is one file in the folder `counts`. Each start begins a new segment, and so does the first write
 * once that is an hour old. Beginning one deletes all segments whose newest record is a day old.
 */
import { randomUUID } from "node:crypto";
import {
  closeSync,
  constants,
  fdatasync,
  fdatasyncSync,
  openSync,
  rmSync,
  writeSync,
  mkdirSync,
  readdirSync,
  readFileSync,
} from "node:fs";
import { basename, join, dirname } from "node:path";
import { promisify } from "node:util";
import { crc32 } from "node:zlib";
import { syncMeanwhile } from "#store/whole-file.ts";
import type { Clock } from "./clocks.ts";
import { type FinishedSegment, inTimeOfThisRun, type SegmentContent } from "./past-requests.ts";
import { dayMicroseconds } from "./policy.ts";

interface JournalOptions {
  /** Data folder. The files are in its subfolder `counts`, which is created if needed. */
  dir: string;
  clock: Clock;
  /**
   * Called with the reason when counts can no longer be read or saved. Called when they are saved again: with null,
   * or with the reason why a segment could not be read at the start. Never called after `close`. Must not throw.
   */
  onFault: (fault: Error | null) => void;
}

export type Journal = ReturnType<typeof openJournal>;

const syncEveryMilliseconds = 1000;
/** Maximum number of buffered records. A full buffer is written at once. */
const bufferedMax = 256;

export function openJournal({ dir, clock, onFault }: JournalOptions) {
  const folder = join(dir, "counts");
  const bootId = clock.bootId ?? `run:${randomUUID()}`;
  let isClosed = false;
  const health = openHealth(folder, (fault) => isClosed || onFault(fault));
  const past = inTimeOfThisRun(readSegments(folder, health), bootId, {
    monotonicMicroseconds: clock.monotonicMicroseconds(),
    wallMilliseconds: clock.wallMilliseconds(),
  });
  const segments = openSegments(folder, bootId, past.segments, health.fail);
  const backlog = openBacklog(segments.write, health.fail);
  const buffer = Buffer.alloc(bufferedMax * recordBytes);
  let bufferedBytes = 0;
  let bufferedAt = 0;

  const write = () => {
    if (bufferedBytes === 0) return;
    const records = buffer.subarray(0, bufferedBytes);
    bufferedBytes = 0;
    backlog.add(records, bufferedAt);
  };
  let isDue = true;
  let isSyncing = false;
  const sync = async () => {
    if (isSyncing || !(isDue || health.isFailing())) return;
    isSyncing = true;
    isDue = false;
    write();
    if (health.isFailing()) backlog.flush(clock.monotonicMicroseconds());
    await segments.sync().then(() => backlog.isEmpty() && health.restore(), health.fail);
    isSyncing = false;
  };

  // Creates the first segment, so that an unusable folder is reported now instead of at the first request.
  backlog.flush(clock.monotonicMicroseconds());
  const timer = setInterval(() => void sync(), syncEveryMilliseconds).unref();
  return {
    /** Sorted times of the requests that earlier runs counted, by account, in µs of this run's monotonic clock. */
    past: past.times,
    /** Adds a record to the buffer. Writes the buffer if it is full. Never throws. Does nothing after `close`. */
    append(account: number, now: number): void {
      if (isClosed) return;
      encodeRecord(buffer, bufferedBytes, account, now, clock.wallMilliseconds());
      bufferedBytes += recordBytes;
      bufferedAt = now;
      if (bufferedBytes === buffer.length) write();
      isDue = true;
    },
    /**
     * Writes the buffered records, so that a restart loses none of them, and a power failure at most the last second.
     * Never throws: records that cannot be written now wait, at most `waitingMax` of them.
     */
    write,
    close() {
      if (isClosed) return;
      clearInterval(timer);
      write();
      if (!backlog.isEmpty()) backlog.flush(clock.monotonicMicroseconds());
      segments.close();
      isClosed = true;
    },
  };
}

/** Tracks the health of a journal. Reports when counts cannot be read or saved, and when they are saved again. */
function openHealth(folder: string, onFault: (fault: Error | null) => void) {
  let isFailing = false;
  let unread: Error | null = null;
  return {
    isFailing: () => isFailing,
    /** Reports that a segment cannot be read. Later writes do not end this fault. */
    reportUnread(fault: Error) {
      unread = fault;
      onFault(fault);
    },
    /** Reports that counts cannot be saved, unless that is known already. */
    fail(error: unknown) {
      if (isFailing) return;
      isFailing = true;
      const reason = `Request counts cannot be saved in ${folder}: ${(error as Error).message}.`;
      onFault(
        new Error(
          `${reason} They are kept in memory, and a restart would lose them. Make room on its disk, or let this user write there.`,
          { cause: error },
        ),
      );
    },
    restore() {
      if (isFailing) onFault(unread);
      isFailing = false;
    },
  };
}

/** Time until the next attempt to write to a failing disk, in µs. */
const retryMicroseconds = 1e6;
/**
 * Maximum number of records that wait for the disk, so that an outage does not fill the memory. Later requests are
 * counted in memory only.
 */
const waitingMax = 65_536;

/**
 * Opens a backlog, which writes records in order. It keeps records that the disk refuses, and tries them again later.
 * It never throws.
 * @param write returns the number of records written completely. May throw if it could write nothing.
 * @param onFault called with the reason for each failed write.
 */
export function openBacklog(
  write: (records: Buffer, nowMicroseconds: number) => number,
  onFault: (error: unknown) => void,
) {
  const waiting: Buffer[] = [];
  let retryAt = Number.NEGATIVE_INFINITY;

  const tryToWrite = (records: Buffer, now: number): number => {
    let written = 0;
    try {
      written = write(records, now);
      if (written * recordBytes === records.length) return written;
      throw new Error("ENOSPC: only a part of the file could be written");
    } catch (error) {
      // A partial write delays the next one, too: a full disk may accept a few bytes of a record again and again.
      retryAt = now + retryMicroseconds;
      onFault(error);
      return written;
    }
  };
  const flush = (now: number) => {
    waiting.splice(0, tryToWrite(Buffer.concat(waiting), now));
  };
  return {
    /** Writes records in order. Copies those that must wait, at most `waitingMax` in all, and drops the rest. */
    add(records: Buffer, now: number) {
      const written = waiting.length === 0 ? tryToWrite(records, now) : 0;
      if (written * recordBytes === records.length) return;
      for (let at = written * recordBytes; at < records.length; at += recordBytes)
        if (waiting.length < waitingMax)
          waiting.push(Buffer.from(records.subarray(at, at + recordBytes)));
      if (now >= retryAt) flush(now);
    },
    flush,
    isEmpty: () => waiting.length === 0,
  };
}

/** Returns the contents of all segments by path. Reports and skips what cannot be read. */
function readSegments(folder: string, { fail, reportUnread }: ReturnType<typeof openHealth>) {
  const contents = new Map<string, SegmentContent>();
  const skip = (path: string, error: unknown) => {
    const reason = `Request counts in ${path} cannot be read: ${(error as Error).message}.`;
    const message = `${reason} The requests recorded there no longer count against any quota. Let this user read ${path} and restart the server. If ${path} is damaged or of another version, delete it.`;
    reportUnread(new Error(message, { cause: error }));
  };
  let paths: readonly string[] = [];
  try {
    paths = listSegments(folder);
  } catch (error) {
    // A folder that cannot be made has no counts.
    if ((error as NodeJS.ErrnoException).syscall === "mkdir") fail(error);
    else skip(folder, error);
  }
  for (const path of paths)
    try {
      contents.set(path, readSegment(path));
    } catch (error) {
      skip(path, error);
    }
  return contents;
}

/**
 * Reads what a crash or a bad disk left of a segment. Skips records with a wrong checksum.
 * @throws if the file cannot be read or has another format version.
 */
function readSegment(path: string): SegmentContent {
  // Without blocking, because a pipe would hold up the start for ever.
  const segment = readFileSync(path, { flag: constants.O_RDONLY | constants.O_NONBLOCK });
  const places = Math.max(0, Math.floor((segment.length - headerBytes) / recordBytes));
  const content: SegmentContent = {
    bootId: places === 0 ? null : decodeHeader(segment),
    count: 0,
    accounts: new Uint32Array(places),
    monotonicMicroseconds: new Float64Array(places),
    last: null,
  };
  for (let place = 0; place < places; place++) {
    const record = decodeRecord(segment, headerBytes + place * recordBytes);
    if (record === null) continue;
    content.accounts[content.count] = record.account;
    content.monotonicMicroseconds[content.count++] = record.monotonicMicroseconds;
    if (content.last === null || record.monotonicMicroseconds >= content.last.monotonicMicroseconds)
      content.last = record;
  }
  return content;
}

const segmentMicroseconds = 3600e6;

/**
 * Returns a writer of segments. Its first write creates a segment.
 * @param finished segments of earlier runs, to be deleted when their records are a day old.
 * @param onFault called if the last sync or the close of a segment fails.
 */
function openSegments(
  folder: string,
  bootId: string,
  finished: readonly FinishedSegment[],
  onFault: (error: unknown) => void,
) {
  let current: Segment | null = null;
  let nextAt = Number.NEGATIVE_INFINITY;
  let newestMicroseconds = Number.NEGATIVE_INFINITY;

  const finish = (segment: Segment) => {
    finished = [...finished, { path: segment.path, newestMicroseconds }];
    void syncSegment(segment)
      .finally(() => closeSync(segment.fd))
      .catch(onFault);
  };
  const begin = (now: number): Segment => {
    const next = createSegment(nextSegmentPath(folder), bootId);
    if (current !== null) finish(current);
    nextAt = now + segmentMicroseconds;
    finished = finished.filter(
      ({ path, newestMicroseconds }) =>
        now - newestMicroseconds < dayMicroseconds || !isDeleted(path),
    );
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
    /**
     * Writes records. Returns how many were written completely. The next call overwrites a record that a full disk cut
     * off, because readers expect records at fixed offsets.
     * @throws if nothing can be written.
     */
    write(records: Buffer, now: number): number {
      const segment = segmentFor(now);
      newestMicroseconds = now;
      const written = writeSync(segment.fd, records, 0, records.length, segment.bytes);
      const whole = Math.floor(written / recordBytes);
      segment.bytes += whole * recordBytes;
      return whole;
    },
    /** Syncs the written records to the disk. Rejects if that fails, or if no file could be created. */
    async sync() {
      if (current === null) throw new Error("no file for request counts could be created");
      await syncSegment(current);
    },
    /** Syncs and closes the current segment. Never throws. */
    close() {
      if (current === null) return;
      const { fd, synced } = current;
      try {
        fdatasyncSync(fd);
      } catch (error) {
        onFault(error);
      }
      void synced.then(() => closeSync(fd)).catch(onFault);
    },
  };
}

function isDeleted(path: string): boolean {
  try {
    rmSync(path, { force: true });
    return true;
  } catch {
    return false;
  }
}

/** Journal file that is being written: records at fixed offsets, safe on disk once `syncSegment` resolves. */
interface Segment {
  readonly path: string;
  readonly fd: number;
  /** Offset of the next record. */
  bytes: number;
  /** Resolves once all syncs begun so far have ended. Syncs run one after the other. */
  synced: Promise<void>;
  isInFolder: boolean;
}

const syncFile = promisify(fdatasync);

/** Creates a segment. @throws if that fails; no file is left behind. */
function createSegment(path: string, bootId: string): Segment {
  const fd = openSync(path, "wx", 0o600);
  try {
    if (writeSync(fd, encodeHeader(bootId), 0, headerBytes, 0) < headerBytes)
      throw new Error("ENOSPC: only a part of the file could be written");
  } catch (error) {
    closeSync(fd);
    rmSync(path, { force: true });
    throw error;
  }
  return { path, fd, bytes: headerBytes, synced: Promise.resolve(), isInFolder: false };
}

/** Syncs everything written so far to the disk. Also syncs the folder the first time. */
function syncSegment(segment: Segment): Promise<void> {
  const syncing = segment.synced.then(async () => {
    await syncFile(segment.fd);
    if (!segment.isInFolder) await syncMeanwhile(dirname(segment.path));
    segment.isInFolder = true;
  });
  segment.synced = syncing.catch(() => {});
  return syncing;
}

/** Length of a record in bytes. A record is one admitted request, with a checksum of its own. */
export const recordBytes = 24;

/** Writes a record: account u32, checksum u32, monotonic µs f64, wall ms f64, all little-endian. */
function encodeRecord(
  into: Buffer,
  at: number,
  account: number,
  monotonicMicroseconds: number,
  wallMilliseconds: number,
): void {
  into.writeUInt32LE(account, at);
  into.writeDoubleLE(monotonicMicroseconds, at + 8);
  into.writeDoubleLE(wallMilliseconds, at + 16);
  into.writeUInt32LE(recordChecksum(account, monotonicMicroseconds, wallMilliseconds), at + 4);
}

/** Returns the record at an offset in a segment. Returns null if its bytes are damaged. */
function decodeRecord(segment: Buffer, at: number) {
  const account = segment.readUInt32LE(at);
  const monotonicMicroseconds = segment.readDoubleLE(at + 8);
  const wallMilliseconds = segment.readDoubleLE(at + 16);
  const checksum = recordChecksum(account, monotonicMicroseconds, wallMilliseconds);
  if (segment.readUInt32LE(at + 4) !== checksum) return null;
  return { account, monotonicMicroseconds, wallMilliseconds };
}

/** Buffer for all fields of a record except its checksum. Allocated once, because each admitted request is recorded. */
const summed = Buffer.alloc(recordBytes - 4);

function recordChecksum(account: number, monotonicMicroseconds: number, wallMilliseconds: number) {
  summed.writeUInt32LE(account);
  summed.writeDoubleLE(monotonicMicroseconds, 4);
  summed.writeDoubleLE(wallMilliseconds, 12);
  return crc32(summed);
}

/** Length of a header in bytes: a whole number of records, so that each record begins at a multiple of its length. */
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
 * Returns the boot id of a segment. Returns null if the header is damaged; the records after it may be intact.
 * @throws if the segment has another format version.
 */
function decodeHeader(segment: Buffer): string | null {
  const header = segment.subarray(0, headerBytes);
  if (
    header.toString("latin1", 0, 8) !== magic ||
    header.readUInt32LE(12) !== headerChecksum(header)
  )
    return null;
  const version = header.readUInt32LE(8);
  if (version !== formatVersion)
    throw new Error(`it has format ${version}, but this program reads format ${formatVersion}`);
  return header.toString("utf8", bootIdAt).replace(/\0+$/, "");
}

const headerChecksum = (header: Buffer) =>
  crc32(header.subarray(bootIdAt), crc32(header.subarray(0, 12)));

const segmentName = /^\d{8,}\.counts$/;

/** Lists the paths of all segments. Creates the folder if needed. @throws if the folder cannot be used. */
function listSegments(folder: string): string[] {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return readdirSync(folder)
    .filter((name) => segmentName.test(name))
    .map((name) => join(folder, name));
}

/** Returns a path with a number above those of all segments in the folder. @throws if the folder cannot be used. */
function nextSegmentPath(folder: string): string {
  const numbers = listSegments(folder).map((path) => Number.parseInt(basename(path), 10));
  return join(folder, `${String(Math.max(0, ...numbers) + 1).padStart(8, "0")}.counts`);
}
