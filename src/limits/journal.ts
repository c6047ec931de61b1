/** Writes every admitted request to a file before its answer leaves, so that a restart forgets none. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { openBacklog } from "./backlog.ts";
import type { Clock } from "./clock.ts";
import { openHealth } from "./journal-health.ts";
import { encodeRecord } from "./journal-record.ts";
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

export interface Journal {
  /** What earlier runs counted, as in `PastRequests`. */
  readonly past: ReadonlyMap<number, Float64Array>;
  /**
   * After it returns the end of the process loses nothing, a power failure at most the last second. Never throws:
   * what cannot be written now is written later.
   */
  append(account: number, nowMicroseconds: number): void;
  close(): void;
}

const syncEveryMilliseconds = 1000;

export function openJournal({ dir, clock, onFault }: JournalOptions): Journal {
  const folder = join(dir, "counts");
  const bootId = clock.bootId ?? `run:${randomUUID()}`;
  let isClosed = false;
  const health = openHealth(folder, (fault) => isClosed || onFault(fault));
  const past = readJournal(folder, bootId, momentOf(clock), health.report);
  const segments = openSegments(folder, bootId, past.segments, health.fail);
  const backlog = openBacklog(segments.write, health.fail);

  const settle = async () => {
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
      backlog.add(encodeRecord(account, now, clock.wallMilliseconds()), now);
      pace.ask();
    },
    close() {
      if (isClosed) return;
      pace.stop();
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
