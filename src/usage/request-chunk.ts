/** Records of requests on their way to the writer thread: packed into bytes, with each repeated word stored once. */
import { packOwnId, randomBytes } from "#store/own-request-id.ts";
import { emptyColumns, type RequestColumns } from "#store/request-columns.ts";
import { openTuples } from "./tuples.ts";

/** A request that was answered. */
export interface AnsweredRequest {
  /** Number of the account. */
  account: number;
  /** Id of the key. */
  key: string;
  operation: string;
  status: number;
  milliseconds: number;
  /** Size of the response content. */
  bytes: number;
  /** Version of the dataset; null where the request was refused before. */
  dataset: string | null;
  /** Code of the problem it was answered with. */
  problem: string | null;
  /** At most 64 characters of ASCII. */
  requestId: string;
  /** The query string with keys masked; null where the operator does not store it. The first 500 characters are kept. */
  query: string | null;
}

export interface RequestChunk {
  bytes: ArrayBuffer;
  /** What the indexes in `bytes` stand for; the first stands for null. */
  words: readonly string[];
  count: number;
}

/** Reused: `take` returns a copy. */
interface ChunkDraft {
  /** @returns false where it is full. */
  add(at: number, request: AnsweredRequest): boolean;
  count(): number;
  take(): RequestChunk;
}

const requestIdLengthMax = 64;
const queryLengthMax = 500;

/** Offset of each member in bytes from the beginning of its request; the texts follow. */
const place = {
  at: 0,
  account: 8,
  bytes: 12,
  hundredths: 16,
  status: 20,
  key: 22,
  operation: 24,
  dataset: 26,
  problem: 28,
  requestIdLength: 30,
  queryLength: 32,
  texts: 34,
} as const;
const noQuery = 0xffff;
const requestBytesMax = place.texts + requestIdLengthMax + 2 * queryLengthMax;

/** A request takes about 65 bytes, so this is enough for 15,000 of them. */
const draftBytes = 1024 * 1024;

export function openChunkDraft(size = draftBytes): ChunkDraft {
  const view = new DataView(new ArrayBuffer(size));
  const places = new Map<string, number>();
  let words = [""];
  let used = 0;
  let count = 0;

  const placeOf = (word: string | null): number => {
    if (word === null) return 0;
    const known = places.get(word);
    if (known !== undefined) return known;
    places.set(word, words.length);
    return words.push(word) - 1;
  };
  return {
    add(at, request) {
      const start = used;
      if (start + requestBytesMax > size) return false;
      const { requestId, query } = request;
      const requestIdLength = Math.min(requestId.length, requestIdLengthMax);
      view.setFloat64(start + place.at, at);
      view.setUint32(start + place.account, request.account);
      view.setUint32(start + place.bytes, request.bytes);
      view.setUint32(start + place.hundredths, Math.round(request.milliseconds * 100));
      view.setUint16(start + place.status, request.status);
      view.setUint16(start + place.key, placeOf(request.key));
      view.setUint16(start + place.operation, placeOf(request.operation));
      view.setUint16(start + place.dataset, placeOf(request.dataset));
      view.setUint16(start + place.problem, placeOf(request.problem));
      view.setUint8(start + place.requestIdLength, requestIdLength);
      view.setUint16(start + place.queryLength, noQuery);
      used += place.texts;
      for (let i = 0; i < requestIdLength; i++) view.setUint8(used++, requestId.charCodeAt(i));
      if (query !== null) {
        const queryLength = Math.min(query.length, queryLengthMax);
        view.setUint16(start + place.queryLength, queryLength);
        for (let i = 0; i < queryLength; i++, used += 2)
          view.setUint16(used, query.charCodeAt(i), true);
      }
      count++;
      return true;
    },
    count: () => count,
    take() {
      const chunk = { bytes: view.buffer.slice(0, used), words, count };
      places.clear();
      words = [""];
      used = 0;
      count = 0;
      return chunk;
    },
  };
}

/** In the order in which they were added. @param first number of the first of them in the log. */
export function columnsOf({ bytes, words, count }: RequestChunk, first: number): RequestColumns {
  const view = new DataView(bytes);
  const text = Buffer.from(bytes);
  const columns = emptyColumns(count);
  const keys = openTuples();
  const kinds = openTuples();
  const ids: (string | null)[] = [];
  const queries: (string | null)[] = [];
  /** Of a request without texts, which most are, nothing is added to them until one has some. */
  const addTexts = (i: number, id: string | null, query: string | null) => {
    if (id === null && query === null) return;
    while (ids.length < i) {
      ids.push(null);
      queries.push(null);
    }
    ids.push(id);
    queries.push(query);
  };
  let start = 0;
  for (let i = 0; i < count; i++) {
    const idStart = start + place.texts;
    const idLength = view.getUint8(start + place.requestIdLength);
    const queryLength = view.getUint16(start + place.queryLength);
    columns.number[i] = first + i;
    columns.at[i] = view.getFloat64(start + place.at);
    columns.account[i] = view.getUint32(start + place.account);
    columns.bytes[i] = view.getUint32(start + place.bytes);
    columns.hundredths[i] = view.getUint32(start + place.hundredths);
    columns.key[i] = keys.placeOf(view.getUint16(start + place.key), 0, 0, 0);
    columns.kind[i] = kinds.placeOf(
      view.getUint16(start + place.operation),
      view.getUint16(start + place.status),
      view.getUint16(start + place.dataset),
      view.getUint16(start + place.problem),
    );
    const idEnd = idStart + idLength;
    const id = text.toString("latin1", idStart, idEnd);
    const sinceMade = packOwnId(id, columns.at[i]!, columns.random, i * randomBytes);
    columns.sinceMade[i] = sinceMade;
    start = queryLength === noQuery ? idEnd : idEnd + 2 * queryLength;
    addTexts(
      i,
      sinceMade > 0 ? null : id,
      queryLength === noQuery ? null : text.toString("utf16le", idEnd, start),
    );
  }
  const wordOrNull = (index: number) => (index === 0 ? null : words[index]!);
  return {
    ...columns,
    keys: keys.all().map(([key]) => words[key]!),
    kinds: kinds.all().map(([operation, status, dataset, problem]) => ({
      operation: words[operation]!,
      status,
      dataset: wordOrNull(dataset),
      problem: wordOrNull(problem),
    })),
    texts: ids.length === 0 ? undefined : () => ({ ids, queries }),
  };
}
