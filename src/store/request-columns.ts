/** Requests of the log in memory, a column for each member, so that thousands of them are handled without an object for each. */
import { ownIdText, packOwnId, randomBytes } from "./own-request-id.ts";

/** What many requests have in common. */
export interface RequestKind {
  operation: string;
  status: number;
  /** Version of the dataset; null where the request was refused before. */
  dataset: string | null;
  /** Code of the problem it was answered with. */
  problem: string | null;
}

/** What is not packed into numbers. */
export interface RequestTexts {
  /** Null for an id that the service made. */
  ids: readonly (string | null)[];
  /** Query strings; null where none was stored. */
  queries: readonly (string | null)[];
}

export interface RequestColumns {
  count: number;
  /** Counts the requests in the order in which they were written. */
  number: Float64Array;
  /** Milliseconds since 1970. */
  at: Float64Array;
  bytes: Float64Array;
  account: Uint32Array;
  /** Place in `keys`. */
  key: Uint32Array;
  /** Place in `kinds`. */
  kind: Uint32Array;
  /** Hundredths of a millisecond. */
  hundredths: Uint32Array;
  /** One more than the milliseconds from the making of its id to `at`; 0 for an id that is a text. */
  sinceMade: Uint32Array;
  /** Ten bytes for each id that the service made. */
  random: Uint8Array;
  keys: readonly string[];
  kinds: readonly RequestKind[];
  /** Undefined where no request has any. */
  texts: (() => RequestTexts) | undefined;
}

export interface StoredRequest extends RequestKind {
  number: number;
  at: number;
  account: number;
  key: string;
  milliseconds: number;
  bytes: number;
  requestId: string;
  query: string | null;
}

const bytesEach = 3 * 8 + 5 * 4 + randomBytes;

/** All zero. The columns share one buffer, which can be given back before the collector comes to it. */
export function emptyColumns(count: number): RequestColumns {
  const buffer = new ArrayBuffer(count * bytesEach);
  let used = 0;
  const float64 = () => new Float64Array(buffer, used, count);
  const take = <Column extends { byteLength: number }>(column: Column): Column => {
    used += column.byteLength;
    return column;
  };
  const uint32 = () => take(new Uint32Array(buffer, used, count));
  return {
    count,
    number: take(float64()),
    at: take(float64()),
    bytes: take(float64()),
    account: uint32(),
    key: uint32(),
    kind: uint32(),
    hundredths: uint32(),
    sinceMade: uint32(),
    random: new Uint8Array(buffer, used, count * randomBytes),
    keys: [],
    kinds: [],
    texts: undefined,
  };
}

/** Afterwards the columns are empty. */
export const freeColumns = ({ number }: RequestColumns): void =>
  void (number.buffer as ArrayBuffer).transfer(0);

export interface RequestExtent {
  number: number;
  /** The greatest number. */
  last: number;
  firstAt: number;
  lastAt: number;
  /** When the first id was made that the service made; null where there is none. */
  firstMade: number | null;
}

/** Of those at some places, at least one. */
export function extentOf(
  { number, at, sinceMade }: RequestColumns,
  places: Uint32Array,
): RequestExtent {
  const [one] = places;
  const extent = { number: number[one!]!, last: 0, firstAt: at[one!]!, lastAt: 0 };
  let firstMade = Number.POSITIVE_INFINITY;
  for (const i of places) {
    if (number[i]! < extent.number) extent.number = number[i]!;
    if (number[i]! > extent.last) extent.last = number[i]!;
    if (at[i]! < extent.firstAt) extent.firstAt = at[i]!;
    if (at[i]! > extent.lastAt) extent.lastAt = at[i]!;
    if (sinceMade[i]! > 0) firstMade = Math.min(firstMade, at[i]! - sinceMade[i]! + 1);
  }
  return { ...extent, firstMade: Number.isFinite(firstMade) ? firstMade : null };
}

const dataColumns = [
  "number",
  "at",
  "bytes",
  "account",
  "hundredths",
  "sinceMade",
  "random",
] as const;

/** All requests of several columns, in their order. */
export function joinColumns(parts: readonly RequestColumns[]): RequestColumns {
  const joined = emptyColumns(parts.reduce((sum, { count }) => sum + count, 0));
  const keys = openNames<string>((key) => key);
  const kinds = openNames(nameOfKind);
  let start = 0;
  for (const part of parts) {
    for (const name of dataColumns)
      joined[name].set(part[name], start * (name === "random" ? randomBytes : 1));
    const keyPlaces = part.keys.map(keys.placeOf);
    const kindPlaces = part.kinds.map(kinds.placeOf);
    for (let i = 0; i < part.count; i++) {
      joined.key[start + i] = keyPlaces[part.key[i]!]!;
      joined.kind[start + i] = kindPlaces[part.kind[i]!]!;
    }
    start += part.count;
  }
  return { ...joined, keys: keys.all, kinds: kinds.all, texts: joinTexts(parts) };
}

function joinTexts(parts: readonly RequestColumns[]): (() => RequestTexts) | undefined {
  if (parts.every(({ texts }) => texts === undefined)) return undefined;
  const ids: (string | null)[] = [];
  const queries: (string | null)[] = [];
  for (const { count, texts } of parts) {
    const own = texts?.();
    for (let i = 0; i < count; i++) {
      ids.push(own?.ids[i] ?? null);
      queries.push(own?.queries[i] ?? null);
    }
  }
  return () => ({ ids, queries });
}

const nameOfKind = ({ operation, status, dataset, problem }: RequestKind): string =>
  JSON.stringify([operation, status, dataset, problem]);

/** Each value once, by its name. */
function openNames<Value>(nameOf: (value: Value) => string) {
  const places = new Map<string, number>();
  const all: Value[] = [];
  return {
    all,
    placeOf(value: Value): number {
      const name = nameOf(value);
      const known = places.get(name);
      if (known !== undefined) return known;
      places.set(name, all.length);
      return all.push(value) - 1;
    },
  };
}

/** Those at or after a time. */
export function requestsSince(columns: RequestColumns, at: number): RequestColumns {
  const requests: StoredRequest[] = [];
  for (let i = 0; i < columns.count; i++)
    if (columns.at[i]! >= at) requests.push(requestAt(columns, i));
  return columnsOfRequests(requests);
}

/** For requests that come one by one; not for many. */
export function columnsOfRequests(requests: readonly StoredRequest[]): RequestColumns {
  const columns = emptyColumns(requests.length);
  const keys = openNames<string>((key) => key);
  const kinds = openNames(nameOfKind);
  const ids: (string | null)[] = [];
  for (const [i, request] of requests.entries()) {
    const { operation, status, dataset, problem } = request;
    columns.number[i] = request.number;
    columns.at[i] = request.at;
    columns.bytes[i] = request.bytes;
    columns.account[i] = request.account;
    columns.key[i] = keys.placeOf(request.key);
    columns.kind[i] = kinds.placeOf({ operation, status, dataset, problem });
    columns.hundredths[i] = Math.round(request.milliseconds * 100);
    const { requestId, at } = request;
    columns.sinceMade[i] = packOwnId(requestId, at, columns.random, i * randomBytes);
    ids.push(columns.sinceMade[i] === 0 ? request.requestId : null);
  }
  const hasTexts = requests.some(({ query }, i) => ids[i] !== null || query !== null);
  const queries = requests.map(({ query }) => query);
  const texts = hasTexts ? () => ({ ids, queries }) : undefined;
  return { ...columns, keys: keys.all, kinds: kinds.all, texts };
}

/** One request as an object. */
export function requestAt(columns: RequestColumns, i: number): StoredRequest {
  const { sinceMade, texts } = columns;
  const own = sinceMade[i]! > 0;
  const at = columns.at[i]!;
  const { operation, status, dataset, problem } = columns.kinds[columns.kind[i]!]!;
  return {
    number: columns.number[i]!,
    at,
    account: columns.account[i]!,
    key: columns.keys[columns.key[i]!]!,
    operation,
    status,
    milliseconds: columns.hundredths[i]! / 100,
    bytes: columns.bytes[i]!,
    dataset,
    problem,
    requestId: own
      ? ownIdText(at - sinceMade[i]! + 1, columns.random, i * randomBytes)
      : texts!().ids[i]!,
    query: texts?.().queries[i] ?? null,
  };
}
