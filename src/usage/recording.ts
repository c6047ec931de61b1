/**
 * Usage: records the last use of keys, totals and the request log, while no request waits for it.
 *
 * The tables are in `usage.sqlite`, or in PostgreSQL. `key_use` has the last use of each key, `usage_hour` the sums of
 * each hour for 400 days, and `request` single requests, as many as the settings keep.
 *
 * A request is recorded in these steps:
 * 1. `record` packs it into a chunk, in well under 1 µs. `noteKeyUse` notes each key at most once a minute.
 * 2. Each second, or when a chunk of 1 MiB is full, the batch goes to the writer (`writer.ts`), which numbers and keeps it.
 * 3. The writer thread writes one batch after another, each as a whole: its sums and its rows of the log together.
 * 4. A written batch is dropped. One that failed is tried again with the next one, after a second, and at the end.
 * 5. After a batch of requests the thread removes old records, a few thousand rows at a time.
 *
 * A data folder has one server, and only its writer thread writes these tables. Readers (`totals.ts`) never wait for it.
 * Any number of instances may write to one PostgreSQL. A batch has the id of its writer and a number, so it counts once
 * even if it is sent again after a lost answer. All write rows in one order, so that none waits for another in a circle,
 * and one instance at a time removes old records.
 *
 * When something is away:
 * - Disk or database: batches wait in memory, up to 64 MiB or some 800,000 requests. Beyond that the oldest are dropped,
 *   and `onLoss` gets their number. Requests are answered all the same.
 * - The thread: the next batch starts it again.
 * - The process: `close` tries all batches a last time. A process that is killed loses what waits, usually a second.
 * - The server of PostgreSQL: its crash may lose the last second.
 */
import { hourMilliseconds, minuteMilliseconds } from "#store/durations.ts";
import type { UsageStore } from "#store/stores.ts";
import type { KeyUseTable } from "#store/usage-tables.ts";
import { type AnsweredRequest, openChunkDraft } from "./request-chunk.ts";
import type { Retention } from "./retention.ts";
import { openWriter, type Writer, type WriterOptions } from "./writer.ts";

export interface Recording {
  /** Notes the use of a key at the present time, as `KeyUse.note`. */
  noteKeyUse(keyId: string, networkOf: () => string): void;
  record: Recorder["record"];
  /** Returns the number of requests whose record was lost since the process started. */
  lostCount(): number;
  /** Returns the size of all batches on their way to the disk or the database. */
  waiting: Writer["waiting"];
  /** Maximum size of waiting batches in bytes; beyond it the oldest are dropped. */
  waitingBytesMax: number;
  /** Resolves when everything is written, or was tried a last time. */
  close(): Promise<void>;
}

interface RecordingOrder {
  dataDir: string;
  /** PostgreSQL to write to, as in `WriterSetting`; null for a file in `dataDir`. */
  database: NonNullable<WriterOptions["database"]> | null;
  retention: Retention;
  /** Milliseconds since 1970. */
  now: () => number;
  /** Called once when writing begins to fail, and once, with null, when it works again. */
  onFault: (fault: Error | null) => void;
  /** Called with the number of lost records, once when the loss begins and once when it is over. */
  onLoss: (requests: number, isOver: boolean) => void;
  /** Wait for a locked file, as in `WriterOptions`. */
  busyMilliseconds?: number;
}

export function openRecording(order: RecordingOrder): Recording {
  const { now, onFault, onLoss, ...ofWriter } = order;
  const lost = openLostRequests(onLoss);
  const writer = openWriter({
    ...ofWriter,
    onLoss: lost.lose,
    onFault(fault) {
      onFault(fault);
      if (fault === null) lost.end();
    },
  });
  const keyUse = openKeyUse({ writer });
  const { record, close } = openRecorder({ writer, now });
  return {
    noteKeyUse: (keyId, networkOf) => keyUse.note(keyId, now(), networkOf),
    record,
    lostCount: lost.count,
    waiting: writer.waiting,
    waitingBytesMax: writer.bytesMax,
    async close() {
      keyUse.close();
      close();
      await writer.close();
      lost.end();
    },
  };
}

interface LostRequests {
  /** Returns the requests lost since the process started. */
  count(): number;
  lose(requests: number): void;
  /** Ends a loss, and reports all requests lost since it began. */
  end(): void;
}

/** @param tell called with the first lost requests when a loss begins, and with all of them and `isOver` at its end. */
function openLostRequests(tell: (requests: number, isOver: boolean) => void): LostRequests {
  let all = 0;
  let sinceBegun = 0;
  return {
    count: () => all,
    lose(requests) {
      all += requests;
      const hasBegun = sinceBegun > 0;
      sinceBegun += requests;
      if (!hasBegun) tell(requests, false);
    },
    end() {
      if (sinceBegun > 0) tell(sinceBegun, true);
      sinceBegun = 0;
    },
  };
}

/** Notes of the time and network of each key's last use, at most one a minute for each key. */
interface KeyUse {
  /**
   * Notes the use of a key. Takes one look-up unless the key's minute is over; never waits. `now` is ms since 1970.
   * @param networkOf returns the network of the request; called only if it is written.
   */
  note(keyId: string, now: number, networkOf?: () => string): void;
  /** Sends the rest to the writer. */
  close(): void;
}

const noteEveryMilliseconds = minuteMilliseconds;
/** Time between two batches to the writer, in ms. */
const gatherMilliseconds = 1000;

/** @param writer writer that `close` leaves open, because others may share it. */
export function openKeyUse({ writer }: { writer: Writer }): KeyUse {
  // Bounded by the number of keys, because only verified keys are noted.
  const notedAt = new Map<string, number>();
  const gathered = new Map<string, KeyUseTable>();
  let timer: NodeJS.Timeout | undefined;

  const send = () => {
    clearTimeout(timer);
    timer = undefined;
    if (gathered.size === 0) return;
    const rows = [...gathered.values()];
    gathered.clear();
    writer.write({ kind: "keyUse", rows });
  };

  return {
    note(keyId, now, networkOf) {
      const before = notedAt.get(keyId);
      // A clock that was set back must not keep a key silent until it catches up.
      if (before !== undefined && now >= before && now - before < noteEveryMilliseconds) return;
      notedAt.set(keyId, now);
      gathered.set(keyId, {
        key_id: keyId,
        last_used_at: new Date(now).toISOString(),
        network: networkOf?.() ?? null,
      });
      timer ??= setTimeout(send, gatherMilliseconds).unref();
    },
    close: send,
  };
}

export interface LastUse {
  /** ISO time. */
  at: string;
  /** Network, such as `203.0.113.0/24`; null if it was not recorded. */
  network: string | null;
}

/** Returns the last use of keys by id, without keys never used. @param keyIds keys to look for; all if left out. */
export async function readLastUse(
  usage: UsageStore,
  keyIds?: readonly string[],
): Promise<Map<string, LastUse>> {
  if (keyIds?.length === 0) return new Map();
  const all = usage.database.selectFrom("key_use").selectAll();
  const asked = keyIds === undefined ? all : all.where("key_id", "in", keyIds);
  const rows = await asked.execute();
  return new Map(
    rows.map(({ key_id, last_used_at: at, network }) => [key_id, { at, network }] as const),
  );
}

/** Recorder of counted requests, which sends them to the writer once a second. */
interface Recorder {
  /** Records a request in well under 1 µs. Never waits and never throws. */
  record(request: AnsweredRequest): void;
  /** Sends the rest to the writer. */
  close(): void;
}

/** Time without requests after which an empty batch is sent: the writer removes old records only after a batch. */
const idleMilliseconds = hourMilliseconds;

/**
 * @param writer writer that `close` leaves open, because others may share it.
 * @param now returns the ms since 1970.
 */
export function openRecorder({ writer, now }: { writer: Writer; now: () => number }): Recorder {
  // Created with the first request, because it takes 1 MiB.
  let draft: ReturnType<typeof openChunkDraft> | undefined;
  let isGathering = false;
  let timer: NodeJS.Timeout | undefined;

  const wait = (milliseconds: number) => {
    clearTimeout(timer);
    timer = setTimeout(send, milliseconds).unref();
  };
  const send = () => {
    isGathering = false;
    writer.write({ kind: "requests", rows: draft!.take(), now: now() });
    wait(idleMilliseconds);
  };
  const gather = () => {
    isGathering = true;
    wait(gatherMilliseconds);
  };
  return {
    record(request) {
      draft ??= openChunkDraft();
      const at = now();
      if (!draft.add(at, request)) {
        send();
        draft.add(at, request);
      }
      if (!isGathering) gather();
    },
    close() {
      if (isGathering) send();
      clearTimeout(timer);
    },
  };
}
