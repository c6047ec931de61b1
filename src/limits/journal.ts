/** Writes every admitted request to a file before its answer leaves, so that a restart forgets none; many at once. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Clock } from "./clock.ts";
import { encodeRecord, recordBytes } from "./journal-record.ts";
import { readJournal } from "./read-journal.ts";
import { openSegments } from "./segments.ts";

export interface JournalOptions {
  /** The files are in its folder `counts`, made where there is none. */
  dir: string;
  clock: Clock;
  /**
   * Hears why counts can no longer be read or saved, and null when they are saved again; nothing after `close`.
   * Must not throw.
   */
  onFault: (fault: Error | null) => void;
}

interface Journal {
  /** What earlier runs counted, as in `PastRequests`. */
  readonly past: ReadonlyMap<number, Float64Array>;
  /** Takes a record down, to be written with the next ones. Never throws. */
  append(account: number, nowMicroseconds: number): void;
  /**
   * Writes what was taken down. After it returns the end of the process loses nothing, a power failure at most the
   * last second. Never throws: what cannot be written now is written later.
   */
  keep(): void;
  close(): void;
}

const syncEveryMilliseconds = 1000;
/** A turn of the event loop that counts more writes more than once. */
const takenDownMax = 256;

export function openJournal({ dir, clock, onFault }: JournalOptions): Journal {
  const folder = join(dir, "counts");
  const bootId = clock.bootId ?? `run:${randomUUID()}`;
  let isClosed = false;
  const health = openHealth(folder, (fault) => isClosed || onFault(fault));
  const past = readJournal(folder, bootId, momentOf(clock), health.report);
  const segments = openSegments(folder, bootId, past.segments, health.fail);
  const backlog = openBacklog(segments.write, health.fail);
  const takenDown = Buffer.alloc(takenDownMax * recordBytes);
  let takenBytes = 0;
  let takenAt = 0;

  const keep = () => {
    if (takenBytes === 0) return;
    const records = takenDown.subarray(0, takenBytes);
    takenBytes = 0;
    backlog.add(records, takenAt);
  };
  const settle = async () => {
    keep();
    if (health.isFailing()) backlog.flush(clock.monotonicMicroseconds());
    await segments.sync().then(() => backlog.isEmpty() && health.restore(), health.fail);
    if (health.isFailing()) pace.ask();
  };
  const pace = paced(syncEveryMilliseconds, () => clock.monotonicMicroseconds() / 1000, settle);

  // Of nothing, so that a folder that cannot be used is known at the start and not at the first request.
  backlog.flush(clock.monotonicMicroseconds());
  pace.ask();
  return {
    past: past.times,
    append(account, now) {
      if (isClosed) return;
      takenBytes += encodeRecord(account, now, clock.wallMilliseconds()).copy(
        takenDown,
        takenBytes,
      );
      takenAt = now;
      if (takenBytes === takenDown.length) keep();
      pace.ask();
    },
    keep,
    close() {
      if (isClosed) return;
      pace.stop();
      keep();
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

/** Says once when counts can no longer be read or saved, and once when all is well again. */
interface JournalHealth {
  isFailing: () => boolean;
  /** A fault to name in any case. */
  report: (fault: Error) => void;
  /** A fault to name unless one is known already. */
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

/** Runs a job soon after it is asked for, but never more often than once in a while and never twice at once. */
interface Paced {
  /** Costs nothing while the job is already due or running. */
  ask(): void;
  /** Nothing begins after this; a job that runs goes on. */
  stop(): void;
}

/**
 * @param everyMilliseconds from one start to the next at the least.
 * @param now in ms on a clock that never steps.
 * @param job must not reject. Its timer does not keep the process alive.
 */
export function paced(
  everyMilliseconds: number,
  now: () => number,
  job: () => Promise<void>,
): Paced {
  let timer: NodeJS.Timeout | null = null;
  let startedAt = Number.NEGATIVE_INFINITY;
  let isRunning = false;
  let isAsked = false;
  let isStopped = false;

  const run = async () => {
    timer = null;
    isAsked = false;
    isRunning = true;
    startedAt = now();
    await job();
    isRunning = false;
    if (isAsked) schedule();
  };
  const schedule = () => {
    if (isStopped) return;
    timer = setTimeout(run, Math.max(0, startedAt + everyMilliseconds - now())).unref();
  };
  return {
    ask() {
      if (isAsked) return;
      isAsked = true;
      if (!isRunning) schedule();
    },
    stop() {
      isStopped = true;
      if (timer !== null) clearTimeout(timer);
    },
  };
}

/** Writes records in their order, and keeps those the disk refuses for a later try. */
interface Backlog {
  /** Writes records, after those that wait; their bytes may be reused when this returns. Never throws. */
  add(records: Buffer, nowMicroseconds: number): void;
  /** Tries to write what waits. Never throws. */
  flush(nowMicroseconds: number): void;
  isEmpty(): boolean;
}

const retryMicroseconds = 1e6;
/** Further records are counted in memory only: an endless outage must not take endless memory. */
const waitingMax = 65_536;

/** @param write returns how many of the records are written, and throws if none can be. */
export function openBacklog(
  write: (records: Buffer, nowMicroseconds: number) => number,
  onFault: (error: unknown) => void,
): Backlog {
  const waiting: Buffer[] = [];
  let retryAt = Number.NEGATIVE_INFINITY;

  const tryToWrite = (records: Buffer, now: number): number => {
    try {
      const written = write(records, now);
      if (written * recordBytes === records.length) return written;
      onFault(new Error("ENOSPC: only a part could be written"));
      return written;
    } catch (error) {
      retryAt = now + retryMicroseconds;
      onFault(error);
      return 0;
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
