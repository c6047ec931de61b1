/** Everything that is recorded of requests: last use of keys, totals and the request log, written by one thread. */
import { hourMilliseconds, minuteMilliseconds } from "#store/durations.ts";
import type { UsageStore } from "#store/stores.ts";
import type { KeyUseTable } from "#store/usage-tables.ts";
import { type AnsweredRequest, openChunkDraft } from "./request-chunk.ts";
import type { Retention } from "./retention.ts";
import { openWriter, type Writer, type WriterOptions } from "./writer.ts";

export interface Recording {
  /** As `KeyUse.note`, for the present time. */
  noteKeyUse(keyId: string, networkOf: () => string): void;
  record: Recorder["record"];
  /** Requests whose record was lost since the process started. */
  lostCount(): number;
  /** What is on its way to the disk or the database. */
  waiting: Writer["waiting"];
  /** How many bytes may be, before the oldest are given up. */
  waitingBytesMax: number;
  /** Resolves when everything is on disk, or has been tried a last time. */
  close(): Promise<void>;
}

interface RecordingOrder {
  dataDir: string;
  /** As in `WriterSetting`. */
  database: NonNullable<WriterOptions["database"]> | null;
  retention: Retention;
  /** Milliseconds since 1970. */
  now: () => number;
  /** Called once when writing begins to fail, and once, with null, when it works again. */
  onFault: (fault: Error | null) => void;
  /** Called when records begin to be lost, and at the end of it, with how many they were. */
  onLoss: (requests: number, isOver: boolean) => void;
  /** As in `WriterOptions`. */
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
  /** Since the process started. */
  count(): number;
  lose(requests: number): void;
  /** Reports what was lost since it began; nothing is lost any more. */
  end(): void;
}

/** @param tell called with the requests lost so far when it begins, with all of them and `isOver` at its end. */
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

/** Remembers when and from where each key was last used, at most once a minute for each key. */
interface KeyUse {
  /**
   * Costs one look-up unless the key's minute is over; never waits. `now` is milliseconds since 1970.
   * @param networkOf the network the request came from; called only where it is written.
   */
  note(keyId: string, now: number, networkOf?: () => string): void;
  /** Sends the rest to the writer. */
  close(): void;
}

const noteEveryMilliseconds = minuteMilliseconds;
/** What is gathered is sent to the writer this often. */
const gatherMilliseconds = 1000;

/** @param writer stays open at `close`; other users may share it. */
export function openKeyUse({ writer }: { writer: Writer }): KeyUse {
  // Bounded by the number of keys: only verified ones are noted.
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
  /** Such as `203.0.113.0/24`; null where it was not recorded. */
  network: string | null;
}

/** By key id; keys never used are missing. @param keyIds only these; all where it is left out. */
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

/** Records each counted request, and sends the records to the writer thread once a second. */
interface Recorder {
  /** Costs well under a microsecond; never waits, never throws. */
  record(request: AnsweredRequest): void;
  /** Sends the rest to the writer. */
  close(): void;
}

/** The writer removes old records when it is sent a batch, which has to happen also without requests. */
const idleMilliseconds = hourMilliseconds;

/**
 * @param writer stays open at `close`; other users may share it.
 * @param now milliseconds since 1970.
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
