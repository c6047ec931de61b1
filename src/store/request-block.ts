/**
 * A block of the request log: some thousand requests in bytes, ordered by account and number. It knows nothing of the
 * database that stores it.
 *
 * One byte for the format, four for the length of the head, the head as JSON; a column for each member, whose numbers take as
 * many bytes as the greatest of them needs above the smallest; the random bytes of ids; the texts, compressed where `isPacked`.
 */
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { randomBytes } from "./own-request-id.ts";
import { type NumberShape, readNumbers, shapeOf, writeNumbers } from "./packed-numbers.ts";
import {
  emptyColumns,
  type RequestColumns,
  type RequestKind,
  type RequestTexts,
} from "./request-columns.ts";

const format = 1;
const headAt = 5;

/** In the order in which they lie in a block. */
const packedColumns = ["number", "at", "key", "kind", "hundredths", "bytes", "sinceMade"] as const;

interface BlockHead {
  columns: readonly Readonly<NumberShape>[];
  /** Ascending. */
  accounts: readonly number[];
  /** Where the requests of each account end. */
  ends: readonly number[];
  keys: readonly string[];
  kinds: readonly (readonly [
    operation: string,
    status: number,
    dataset: string | null,
    problem: string | null,
  ])[];
  /** Whether there are random bytes. */
  hasRandom: boolean;
  hasTexts: boolean;
  isPacked: boolean;
}

/** Requests of one account in a block, with the times of the first and the last. */
interface AccountRun {
  account: number;
  firstAt: number;
  lastAt: number;
}

export interface RequestBlock {
  content: Uint8Array;
  runs: readonly AccountRun[];
  /** Which ids are texts. */
  textIds: readonly string[];
}

/** Requests in the order of their accounts, those of one account as before. */
export interface AccountOrder {
  /** Places in the columns. */
  order: Uint32Array;
  /** Ascending. */
  accounts: readonly number[];
  /** Where the places of each account end in `order`. */
  ends: readonly number[];
}

export function orderByAccount({ account, count }: RequestColumns): AccountOrder {
  const counts = new Map<number, number>();
  for (let i = 0; i < count; i++) counts.set(account[i]!, (counts.get(account[i]!) ?? 0) + 1);
  const accounts = [...counts.keys()].toSorted((one, other) => one - other);
  let ordered = 0;
  const places = new Map<number, number>();
  const ends = accounts.map((one) => {
    places.set(one, ordered);
    return (ordered += counts.get(one)!);
  });
  const order = new Uint32Array(ordered);
  for (let i = 0; i < count; i++) {
    const place = places.get(account[i]!)!;
    order[place] = i;
    places.set(account[i]!, place + 1);
  }
  return { order, accounts, ends };
}

/** @param packsTexts whether texts are compressed, which costs more than all the rest. */
export function encodeBlocks(
  columns: RequestColumns,
  ordered: AccountOrder,
  requestsMax: number,
  packsTexts: boolean,
): RequestBlock[] {
  const blocks: RequestBlock[] = [];
  const count = ordered.order.length;
  for (let start = 0; start < count; start += requestsMax) {
    const end = Math.min(start + requestsMax, count);
    blocks.push(encodeBlock(columns, ordered, start, end, packsTexts));
  }
  return blocks;
}

function encodeBlock(
  columns: RequestColumns,
  { order, accounts, ends }: AccountOrder,
  start: number,
  end: number,
  packsTexts: boolean,
): RequestBlock {
  const count = end - start;
  const first = ends.findIndex((one) => one > start);
  const last = ends.findIndex((one) => one >= end);
  const places = order.subarray(start, end);
  const values = packedColumns.map((name) => {
    const column = columns[name];
    const picked = new Float64Array(count);
    for (let i = 0; i < count; i++) picked[i] = column[places[i]!]!;
    return picked;
  });
  const [, times, keyValues, kindValues, , , sinceMade] = values as [
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  const keys = usedOf(keyValues, columns.keys);
  const kinds = usedOf(kindValues, columns.kinds);
  const shapes = values.map(shapeOf);
  const hasRandom = sinceMade.some((one) => one > 0);
  const texts = textsAt(columns, places);
  const textBytes = texts === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(texts));
  const isPacked = packsTexts && texts !== undefined;
  const head: BlockHead = {
    columns: shapes,
    accounts: accounts.slice(first, last + 1),
    ends: ends.slice(first, last + 1).map((one) => Math.min(one, end) - start),
    keys,
    kinds: kinds.map((kind) => [kind.operation, kind.status, kind.dataset, kind.problem]),
    hasRandom,
    hasTexts: texts !== undefined,
    isPacked,
  };
  const headBytes = Buffer.from(JSON.stringify(head));
  const lastBytes = isPacked ? zstdCompressSync(textBytes) : textBytes;
  const numberBytes = shapes.reduce((sum, [, width]) => sum + width * count, 0);
  const idBytes = hasRandom ? count * randomBytes : 0;
  const dataAt = headAt + headBytes.length;
  const content = new Uint8Array(dataAt + numberBytes + idBytes + lastBytes.length);
  content[0] = format;
  new DataView(content.buffer).setUint32(1, headBytes.length);
  content.set(headBytes, headAt);
  let at = dataAt;
  for (const [i, column] of values.entries()) {
    const shape = shapes[i]!;
    writeNumbers(column, shape, content, at);
    at += shape[1] * count;
  }
  if (hasRandom) copyRandom(columns.random, places, content, at);
  content.set(lastBytes, at + idBytes);
  const runs = head.accounts.map((account, i) =>
    runOf(account, times.subarray(head.ends[i - 1] ?? 0, head.ends[i])),
  );
  const textIds = texts?.ids.filter((id) => id !== null) ?? [];
  return { content, runs, textIds };
}

function runOf(account: number, times: Float64Array): AccountRun {
  let firstAt = times[0]!;
  let lastAt = firstAt;
  for (const at of times) {
    if (at < firstAt) firstAt = at;
    if (at > lastAt) lastAt = at;
  }
  return { account, firstAt, lastAt };
}

/** The names that are used, and in their place the number of each among them. */
function usedOf<Name>(places: Float64Array, names: readonly Name[]): Name[] {
  const used: Name[] = [];
  const renumbered = new Int32Array(names.length).fill(-1);
  for (let i = 0; i < places.length; i++) {
    const before = places[i]!;
    if (renumbered[before]! < 0) renumbered[before] = used.push(names[before]!) - 1;
    places[i] = renumbered[before]!;
  }
  return used;
}

function textsAt(columns: RequestColumns, places: Uint32Array): RequestTexts | undefined {
  if (columns.texts === undefined) return undefined;
  const { ids, queries } = columns.texts();
  const picked = {
    ids: Array.from(places, (place) => ids[place] ?? null),
    queries: Array.from(places, (place) => queries[place] ?? null),
  };
  const isText = (text: string | null) => text !== null;
  return picked.ids.some(isText) || picked.queries.some(isText) ? picked : undefined;
}

function copyRandom(from: Uint8Array, places: Uint32Array, to: Uint8Array, at: number): void {
  let written = at;
  for (const place of places) {
    const begin = place * randomBytes;
    for (let i = begin; i < begin + randomBytes; i++) to[written++] = from[i]!;
  }
}

/**
 * @param account only its requests; all where it is left out.
 * @returns undefined where there are none.
 * @throws Error for bytes that are no block of a format that this program knows.
 */
export function decodeBlock(content: Uint8Array, account?: number): RequestColumns | undefined {
  const head = readHead(content);
  const total = head.ends.at(-1) ?? 0;
  const run = account === undefined ? 0 : head.accounts.indexOf(account);
  if (run < 0) return undefined;
  const start = account === undefined ? 0 : (head.ends[run - 1] ?? 0);
  const end = account === undefined ? total : head.ends[run]!;
  const columns = emptyColumns(end - start);
  let at = headAt + headLength(content);
  for (const [i, name] of packedColumns.entries()) {
    const shape = head.columns[i]!;
    readNumbers(content, at + start * shape[1], shape, columns[name]);
    at += shape[1] * total;
  }
  if (head.hasRandom) {
    columns.random.set(content.subarray(at + start * randomBytes, at + end * randomBytes));
    at += total * randomBytes;
  }
  if (at > content.length) throw new Error("it is cut off");
  for (let i = 0, runAt = Math.max(run, 0); i < columns.count; i++) {
    while (head.ends[runAt]! <= start + i) runAt++;
    columns.account[i] = head.accounts[runAt]!;
  }
  const kinds = head.kinds.map(([operation, status, dataset, problem]): RequestKind => {
    return { operation, status, dataset, problem };
  });
  const texts = head.hasTexts ? lazyTexts(content.subarray(at), head, start, end) : undefined;
  return { ...columns, keys: head.keys, kinds, texts };
}

const headLength = (content: Uint8Array): number =>
  content.length < headAt ? 0 : new DataView(content.buffer, content.byteOffset).getUint32(1);

function readHead(content: Uint8Array): BlockHead {
  if (content[0] !== format) throw new Error(`its format is ${content[0]}, not ${format}`);
  const length = headLength(content);
  return JSON.parse(Buffer.from(content.buffer, content.byteOffset + headAt, length).toString());
}

/** They are unpacked when the first is asked for. */
function lazyTexts(
  bytes: Uint8Array,
  { isPacked }: BlockHead,
  start: number,
  end: number,
): () => RequestTexts {
  let read: RequestTexts | undefined;
  return () => {
    if (read !== undefined) return read;
    const all = JSON.parse(String(isPacked ? zstdDecompressSync(bytes) : Buffer.from(bytes)));
    read = { ids: all.ids.slice(start, end), queries: all.queries.slice(start, end) };
    return read;
  };
}

/** Reads all of a block. @throws Error that says what is wrong with it, as the end of a sentence. */
export function checkBlock(content: Uint8Array): void {
  const columns = decodeBlock(content)!;
  const { account, key, kind, keys, kinds, sinceMade, texts, number } = columns;
  const own = texts?.();
  for (let i = 0; i < columns.count; i++) {
    if (key[i]! >= keys.length || kind[i]! >= kinds.length)
      throw new Error("a request in it has no key or operation");
    if (sinceMade[i] === 0 && typeof own?.ids[i] !== "string")
      throw new Error("a request in it has no id");
    if (
      i > 0 &&
      (account[i]! < account[i - 1]! ||
        (account[i] === account[i - 1] && number[i]! <= number[i - 1]!))
    )
      throw new Error("its requests are out of order");
  }
}

/** The accounts of a block. */
export const accountsOf = (content: Uint8Array): readonly number[] => readHead(content).accounts;

const accountBytes = 4;

/** Account numbers as bytes that can be searched before a block is read. @param accounts ascending. */
export function listAccounts(accounts: readonly number[]): Uint8Array {
  const list = Buffer.alloc(accounts.length * accountBytes);
  for (const [i, account] of accounts.entries()) list.writeUInt32LE(account, i * accountBytes);
  return list;
}
