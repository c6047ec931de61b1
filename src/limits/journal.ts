/** Writes admitted requests to a file, in batches and before their responses are sent, so that a restart forgets none. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Clock } from "./clocks.ts";
import { readJournal } from "./read-journal.ts";
import { encodeRecord, openSegments, recordBytes } from "./segments.ts";

export interface JournalOptions {
  /** Data folder. The files are in its subfolder `counts`, which is created if needed. */
  dir: string;
  clock: Clock;
  /**
   * Called with the reason when counts can no longer be read or saved, and with null when they are saved again. Never
   * called after `close`. Must not throw.
   */
  onFault: (fault: Error | null) => void;
}

interface Journal {
  /** Requests counted by earlier runs, as in `PastRequests`. */
  readonly past: ReadonlyMap<number, Float64Array>;
  /** Buffers a record until the next write. Never throws. */
  append(account: number, nowMicroseconds: number): void;
  /**
   * Writes the buffered records. The end of the process then loses none of them, a power failure at most the last
   * second. Never throws: a record that cannot be written now is written later.
   */
  write(): void;
  close(): void;
}

const syncEveryMilliseconds = 1000;
/** Maximum number of buffered records. A full buffer is written at once. */
const bufferedMax = 256;

export function openJournal({ dir, clock, onFault }: JournalOptions): Journal {
  const folder = join(dir, "counts");
  const bootId = clock.bootId ?? `run:${randomUUID()}`;
  let isClosed = false;
  const health = openHealth(folder, (fault) => isClosed || onFault(fault));
  const past = readJournal(folder, bootId, momentOf(clock), health.report);
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

  // Writes nothing, but reports an unusable folder at the start instead of at the first request.
  backlog.flush(clock.monotonicMicroseconds());
  const timer = setInterval(() => void sync(), syncEveryMilliseconds).unref();
  return {
    past: past.times,
    append(account, now) {
      if (isClosed) return;
      bufferedBytes += encodeRecord(account, now, clock.wallMilliseconds()).copy(
        buffer,
        bufferedBytes,
      );
      bufferedAt = now;
      if (bufferedBytes === buffer.length) write();
      isDue = true;
    },
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

function momentOf(clock: Clock) {
  return {
    monotonicMicroseconds: clock.monotonicMicroseconds(),
    wallMilliseconds: clock.wallMilliseconds(),
  };
}

/** State of the journal, reported once when counts cannot be read or saved, and once when they are saved again. */
interface JournalHealth {
  isFailing: () => boolean;
  /** Reports a fault, even if one is known already. */
  report: (fault: Error) => void;
  /** Reports a fault unless one is known already. */
  fail: (error: unknown) => void;
  restore: () => void;
}

function openHealth(folder: string, onFault: (fault: Error | null) => void): JournalHealth {
  let isFailing = false;
  const report = (fault: Error) => {
    isFailing = true;
    onFault(fault);
  };
  return {
    isFailing: () => isFailing,
    report,
    fail(error) {
      if (isFailing) return;
      const reason = `Request counts cannot be saved in ${folder}: ${(error as Error).message}.`;
      report(
        new Error(`${reason} They go on in memory; a restart would forget them.`, { cause: error }),
      );
    },
    restore() {
      if (isFailing) onFault(null);
      isFailing = false;
    },
  };
}

/** Writer of records in order, which keeps those that the disk refuses for a later attempt. */
interface Backlog {
  /** Writes records after the waiting ones. Their bytes may be reused afterwards. Never throws. */
  add(records: Buffer, nowMicroseconds: number): void;
  /** Tries to write the waiting records. Never throws. */
  flush(nowMicroseconds: number): void;
  isEmpty(): boolean;
}

const retryMicroseconds = 1e6;
/** Maximum number of waiting records. Later requests are counted in memory only, so that an outage does not fill it. */
const waitingMax = 65_536;

/** @param write returns how many records it wrote, and throws if it could write none. */
export function openBacklog(
  write: (records: Buffer, nowMicroseconds: number) => number,
  onFault: (error: unknown) => void,
): Backlog {
  const waiting: Buffer[] = [];
  let retryAt = Number.NEGATIVE_INFINITY;

  const tryToWrite = (records: Buffer, now: number): number => {
    let written = 0;
    try {
      written = write(records, now);
      if (written * recordBytes === records.length) return written;
      throw new Error("ENOSPC: only a part could be written");
    } catch (error) {
      // A partial write waits, too: the last block of a full disk may take a few bytes of a record for ever.
      retryAt = now + retryMicroseconds;
      onFault(error);
      return written;
    }
  };
  const flush = (now: number) => {
    waiting.splice(0, tryToWrite(Buffer.concat(waiting), now));
  };
  return {
    add(records, now) {
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
