/** Records of requests on their way to the writer thread, packed into bytes; each repeated word is stored once. */

/** An answered request. */
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
  /** Version of the dataset; null if the request was refused before one was taken. */
  dataset: string | null;
  /** Code of the problem in the answer. */
  problem: string | null;
  /** Request id, at most 64 characters of ASCII. */
  requestId: string;
  /** Query string with masked keys, of which 500 characters are kept; null if the operator stores none. */
  query: string | null;
}

export interface RequestChunk {
  bytes: ArrayBuffer;
  /** Words for the indexes in `bytes`; the first stands for null. */
  words: readonly string[];
  count: number;
}

/** A chunk in the making. It is reused, because `take` returns a copy. */
interface ChunkDraft {
  /** Adds a request. Returns false if the draft is full. */
  add(at: number, request: AnsweredRequest): boolean;
  take(): RequestChunk;
}

const requestIdLengthMax = 64;
const queryLengthMax = 500;

/** Offset of each member in bytes from the start of its request; the texts follow. */
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

/** Size of a draft, enough for 15,000 requests of about 65 bytes. */
const draftBytes = 1024 * 1024;

export function openChunkDraft(size = draftBytes): ChunkDraft {
  const view = new DataView(new ArrayBuffer(size));
  const text = Buffer.from(view.buffer);
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
      used += text.write(requestId, used, requestIdLength, "latin1");
      if (query !== null) {
        const queryLength = Math.min(query.length, queryLengthMax);
        view.setUint16(start + place.queryLength, queryLength);
        used += text.write(query, used, 2 * queryLength, "utf16le");
      }
      count++;
      return true;
    },
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

/** A request of a chunk. Its words are indexes into the chunk's words; 0 stands for null. */
export interface ChunkRequest {
  /** Milliseconds since 1970. */
  at: number;
  account: number;
  bytes: number;
  hundredths: number;
  status: number;
  key: number;
  operation: number;
  dataset: number;
  problem: number;
  requestId: string;
  query: string | null;
}

/** Yields the requests in the order of their addition. */
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
      bytes: view.getUint32(start + place.bytes),
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
