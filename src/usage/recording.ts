/**
 * Records usage without making a request wait: keys' last use, totals, and the request log.
 *
 * The tables are in `usage.sqlite`, or in PostgreSQL. `key_use` holds each key's last use. `usage_hour` holds hourly
 * sums for 400 days. `request` holds as many single requests as the settings allow.
 *
 * A request is recorded in these steps:
 * 1. `record` packs it into a chunk, in well under 1 µs. `noteKeyUse` notes each key at most once a minute.
 * 2. Once a second, or when a chunk of 1 MiB is full, the batch goes to the writer (`writer.ts`), which numbers it.
 * 3. The writer thread writes one batch after another. A batch's sums and log rows are written together or not at all.
 * 4. A written batch is dropped. A failed batch is tried again with the next one, after a second, and at shutdown.
 * 5. After a batch the thread removes old records, at most 5,000 requests or one hour's sums at a time.
 *
 * A data folder has one server, and only its writer thread writes these tables. Readers (`totals.ts`) never wait for
 * it. Any number of instances may write to one PostgreSQL. A batch has its writer's id and a number, so it counts once
 * even if it is sent again after a lost answer. All instances write rows in the same order, so that they cannot
 * deadlock. Each skips old requests that another is removing.
 *
 * When something fails:
 * - Disk or database: batches wait in memory, up to 64 MiB or some 800,000 requests. Beyond that the oldest are
 *   dropped, and `onLoss` gets the number of their requests. Requests are still answered.
 * - The thread: the next attempt to write starts it again.
 * - The process: `close` tries the remaining batches again. A killed process usually loses the last second.
 * - The PostgreSQL server: a crash may lose the last second.
 */
import { hourMilliseconds, minuteMilliseconds } from "#store/durations.ts";
import type { UsageStore } from "#store/stores.ts";
import type { KeyUseTable } from "#store/usage-schema.ts";

/** Records that are sent to the writer thread together. */
export interface Batch {
  keyUse: readonly KeyUseTable[];
  requests: RequestChunk;
  /** Milliseconds since 1970. */
  now: number;
}

/** A batch and its number. Each writer numbers its batches from 1. */
export interface NumberedBatch {
  number: number;
  batch: Batch;
}

/** Time for which a batch gathers records, in ms, unless its chunk is full earlier. */
const gatherMilliseconds = 1000;
/** Time without records, in ms, after which an empty batch is sent: old records are removed only after a batch. */
const idleMilliseconds = hourMilliseconds;

/**
 * Opens a recorder of requests and keys' last use. A batch is sent a second after its first record, or once it is full.
 * @param write accepts a batch and returns at once.
 * @param now returns milliseconds since 1970.
 */
export function openRecorder(write: (batch: Batch) => void, now: () => number) {
  // Created when it is first needed, because it takes 1 MiB.
  let draft: ReturnType<typeof openChunkDraft> | undefined;
  // Its size is bounded by the number of keys, because only verified keys are noted.
  const notedAt = new Map<string, number>();
  const keyUse = new Map<string, KeyUseTable>();
  let isGathering = false;
  let timer: NodeJS.Timeout | undefined;

  const wait = (milliseconds: number) => {
    clearTimeout(timer);
    timer = setTimeout(send, milliseconds).unref();
  };
  const send = () => {
    isGathering = false;
    draft ??= openChunkDraft();
    write({ keyUse: [...keyUse.values()], requests: draft.take(), now: now() });
    keyUse.clear();
    wait(idleMilliseconds);
  };
  const gather = () => {
    if (isGathering) return;
    isGathering = true;
    wait(gatherMilliseconds);
  };
  return {
    /**
     * Notes the time and network of a key's last use, at most once a minute for each key. Never waits. Further calls
     * within the minute only look the key up.
     * @param at milliseconds since 1970.
     * @param networkOf returns the request's network; called only if the use is noted.
     */
    noteKeyUse(keyId: string, at: number, networkOf?: () => string): void {
      const before = notedAt.get(keyId);
      // If the clock is set back, a key's use is noted at once instead of only after the clock has caught up.
      if (before !== undefined && at >= before && at - before < minuteMilliseconds) return;
      notedAt.set(keyId, at);
      const last_used_at = new Date(at).toISOString();
      keyUse.set(keyId, { key_id: keyId, last_used_at, network: networkOf?.() ?? null });
      gather();
    },
    /** Records a request, usually in well under 1 µs. Never waits and never throws. */
    record(request: AnsweredRequest): void {
      draft ??= openChunkDraft();
      const at = now();
      if (!draft.add(at, request)) {
        send();
        draft.add(at, request);
      }
      gather();
    },
    /** Sends the remaining records to the writer. */
    close() {
      if (isGathering) send();
      clearTimeout(timer);
    },
  };
}

export interface LastUse {
  /** Time in ISO 8601. */
  at: string;
  /** Network, such as `203.0.113.0/24`; null if it was not recorded. */
  network: string | null;
}

/** Returns keys' last use by key id. Leaves out unused keys. @param keyIds keys to look up; by default all. */
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

export interface AnsweredRequest {
  account: number;
  /** Id of the key. */
  key: string;
  operation: string;
  status: number;
  milliseconds: number;
  /** Size of the response content. */
  bytes: number;
  /** Version of the dataset that the request used; null if it used none. */
  dataset: string | null;
  /** Problem code in the response; null if there is none. */
  problem: string | null;
  /** Request id in ASCII. Only its first 64 characters are kept. */
  requestId: string;
  /** Query string with masked keys; null if the operator stores none. Only its first 500 characters are kept. */
  query: string | null;
}

export interface RequestChunk {
  bytes: ArrayBuffer;
  /** Words that the indexes in `bytes` refer to. The first stands for null. */
  words: readonly string[];
  count: number;
}

const requestIdLengthMax = 64;
const queryLengthMax = 500;

/** Offset of each field from the start of its request, in bytes. The request id and the query follow the fields. */
const place = {
  at: 0,
  account: 8,
  bytes: 12,
  hundredths: 20,
  status: 24,
  key: 26,
  operation: 28,
  dataset: 30,
  problem: 32,
  requestIdLength: 34,
  queryLength: 36,
  texts: 38,
} as const;
const noQuery = 0xffff;
/** Longest time that the column takes, in units of 0.01 ms: six hours. A slow reader of an export can exceed it. */
const hundredthsMax = 0x7fff_ffff;
const requestBytesMax = place.texts + requestIdLengthMax + 2 * queryLengthMax;

/** Size of a draft in bytes: enough for some 15,000 requests of about 70 bytes. */
const draftBytes = 1024 * 1024;

/** Opens a draft of a chunk. It can be used again after each `take`, which returns a copy. */
export function openChunkDraft(size = draftBytes) {
  const view = new DataView(new ArrayBuffer(size));
  const text = Buffer.from(view.buffer);
  const places = new Map<string, number>();
  let words = [""];
  let used = 0;
  let count = 0;

  const addWord = (word: string) => {
    places.set(word, words.length);
    return words.push(word) - 1;
  };
  const placeOf = (word: string | null): number =>
    word === null ? 0 : (places.get(word) ?? addWord(word));
  return {
    /** Adds a request. Returns false if the draft is full. */
    add(at: number, request: AnsweredRequest): boolean {
      const start = used;
      if (start + requestBytesMax > size) return false;
      const { requestId, query } = request;
      const requestIdLength = Math.min(requestId.length, requestIdLengthMax);
      view.setFloat64(start + place.at, at);
      view.setUint32(start + place.account, request.account);
      view.setFloat64(start + place.bytes, request.bytes);
      const hundredths = Math.min(Math.round(request.milliseconds * 100), hundredthsMax);
      view.setUint32(start + place.hundredths, hundredths);
      view.setUint16(start + place.status, request.status);
      view.setUint16(start + place.key, placeOf(request.key));
      view.setUint16(start + place.operation, placeOf(request.operation));
      view.setUint16(start + place.dataset, placeOf(request.dataset));
      view.setUint16(start + place.problem, placeOf(request.problem));
      view.setUint8(start + place.requestIdLength, requestIdLength);
      view.setUint16(start + place.queryLength, noQuery);
      used += place.texts;
      used += text.write(requestId, used, requestIdLength, "latin1");
      if (query !== null) {
        const queryLength = Math.min(query.length, queryLengthMax);
        view.setUint16(start + place.queryLength, queryLength);
        used += text.write(query, used, 2 * queryLength, "utf16le");
      }
      count++;
      return true;
    },
    take(): RequestChunk {
      const chunk = { bytes: view.buffer.slice(0, used), words, count };
      places.clear();
      words = [""];
      used = 0;
      count = 0;
      return chunk;
    },
  };
}

/** A request in a chunk. Its words are indexes into the chunk's words; 0 stands for null. */
export type ChunkRequest = Pick<AnsweredRequest, "account" | "bytes" | "status"> &
  Pick<AnsweredRequest, "requestId" | "query"> &
  Record<"at" | "hundredths" | "key" | "operation" | "dataset" | "problem", number>;

/** Yields a chunk's requests in the order in which they were added. */
export function* requestsIn({ bytes, count }: RequestChunk): Generator<ChunkRequest> {
  const view = new DataView(bytes);
  const text = Buffer.from(bytes);
  let start = 0;
  for (let i = 0; i < count; i++) {
    const idStart = start + place.texts;
    const idEnd = idStart + view.getUint8(start + place.requestIdLength);
    const queryLength = view.getUint16(start + place.queryLength);
    const end = queryLength === noQuery ? idEnd : idEnd + 2 * queryLength;
    yield {
      at: view.getFloat64(start + place.at),
      account: view.getUint32(start + place.account),
      bytes: view.getFloat64(start + place.bytes),
      hundredths: view.getUint32(start + place.hundredths),
      status: view.getUint16(start + place.status),
      key: view.getUint16(start + place.key),
      operation: view.getUint16(start + place.operation),
      dataset: view.getUint16(start + place.dataset),
      problem: view.getUint16(start + place.problem),
      requestId: text.toString("latin1", idStart, idEnd),
      query: queryLength === noQuery ? null : text.toString("utf16le", idEnd, end),
    };
    start = end;
  }
}
