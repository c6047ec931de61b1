/** Writes every admitted request to a file before its answer leaves, so that a restart forgets none; many at once. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { openBacklog } from "./backlog.ts";
import type { Clock } from "./clock.ts";
import { openHealth } from "./journal-health.ts";
import { encodeRecord, recordBytes } from "./journal-record.ts";
import { paced } from "./paced.ts";
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
