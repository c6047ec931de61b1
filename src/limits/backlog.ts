/** Writes records in their order, and keeps those the disk refuses for a later try. */
import { recordBytes } from "./journal-record.ts";

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
