/** Reads canonical records from NDJSON, one JSON object per line, as docs/importing.md describes. */
import type { CanonicalRecord, RecordName, SourceEntry } from "#records/canonical.ts";
import { type RecordKind, recordKinds } from "#records/kinds.ts";
import { decoderOf, type Encoding } from "./encoding.ts";
import { refuseEmpty, Unreadable } from "./import-fault.ts";
import { readBytes, type ReadOptions, shownName } from "./source-file.ts";
import { parseStrictJson } from "./strict-json.ts";

const lineBytesMax = 1024 * 1024;

/**
 * Yields the result of `read` for each block of lines. Omits results without entries.
 * @param read function that makes a block's entries. If it returns a promise, the next blocks are read meanwhile.
 * @throws ImportFault if a file cannot be read or has another format. Throws it too if a file has only blank lines,
 *   unless the options allow that.
 */
export async function* readNdjson<Read extends { entries: readonly unknown[] }>(
  files: readonly string[],
  { encoding = "utf-8", allowsEmpty = false }: ReadOptions,
  read: (block: LineBlock) => Read | Promise<Read>,
): AsyncGenerator<Read, void> {
  for (const file of files) {
    const name = shownName(file);
    let isEmpty = true;
    for await (const some of inOrder(readBlocks(file, encoding), read)) {
      if (some.entries.length === 0) continue;
      isEmpty = false;
      yield some;
    }
    if (isEmpty && !allowsEmpty) refuseEmpty(name);
  }
}

/** Number of blocks read ahead, which keeps two threads busy while a third takes their entries. */
const blocksAhead = 6;

/** Yields the results in the order of their blocks. */
async function* inOrder<Read>(
  blocks: AsyncIterable<LineBlock>,
  read: (block: LineBlock) => Read | Promise<Read>,
): AsyncGenerator<Read, void> {
  const pending: Promise<Read>[] = [];
  let fault: { error: unknown } | null = null;
  try {
    for await (const block of blocks) {
      const made = read(block);
      if (!(made instanceof Promise)) {
        yield made;
        continue;
      }
      // A rejection is thrown when its turn comes. Until then it must not count as unhandled.
      made.catch(() => {});
      pending.push(made);
      if (pending.length > blocksAhead) yield await pending.shift()!;
    }
  } catch (error) {
    fault = { error };
  }
  // Results that are still pending come before the fault.
  for (const made of pending) yield await made;
  if (fault !== null) throw fault.error;
}

/** Whole lines of a file. */
export interface LineBlock {
  /** Name of the file as the operator wrote it, or `<stdin>`. */
  file: string;
  encoding: Encoding;
  /** Number of the first line, from 1. */
  firstLine: number;
  /** Lines with their ends; null for a single line that was dropped because it is too long. */
  bytes: Uint8Array<ArrayBuffer> | null;
  /** True if the last line has an end. Otherwise the file may be truncated there. */
  ended: boolean;
}

/**
 * Returns an entry for each line of a block that is not blank. An unreadable line becomes an entry with a fault. Does
 * not check records against their schema.
 */
export function entriesOf({ file, encoding, firstLine, bytes, ended }: LineBlock): SourceEntry[] {
  const tooLong = new Unreadable(`is longer than ${lineBytesMax} bytes`);
  if (bytes === null) return [entryOf(file, firstLine, ended, tooLong)];
  const decode = decoderOf(encoding);
  const block = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const entries: SourceEntry[] = [];
  for (let start = 0, line = firstLine; start < block.length; line++) {
    const newlineAt = block.indexOf(newline, start);
    const lineEnd = newlineAt < 0 ? block.length : newlineAt;
    const end = block[lineEnd - 1] === carriageReturn ? lineEnd - 1 : lineEnd;
    const text = end - start > lineBytesMax ? tooLong : decode(block.subarray(start, end));
    const value = text instanceof Unreadable ? text : readLine(text);
    if (value !== undefined) {
      const entry = entryOf(file, line, newlineAt >= 0, value);
      if (typeof text === "string" && isPlain(text)) entry.isPlain = true;
      entries.push(entry);
    }
    start = lineEnd + 1;
  }
  return entries;
}

/**
 * Reports whether a line contains neither an escape nor DEL. Its values then have no ASCII control characters or lone
 * surrogates, because JSON must escape all of these but DEL.
 */
const isPlain = (text: string) => !text.includes("\\") && !text.includes("\x7f");

/** Returns a line's object, or Unreadable if there is none. Returns undefined for a blank line. */
function readLine(text: string): object | Unreadable | undefined {
  if (text.trim() === "") return undefined;
  const value = parseStrictJson(text);
  if (value instanceof Unreadable) return value;
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return new Unreadable("must be a JSON object");
  return value;
}

/** Returns the entry of a line. @param ended false if the line has no end. */
function entryOf(file: string, line: number, ended: boolean, value: object): SourceEntry {
  const entry = { file, line, records: [], namedGps: [], faults: [] };
  if (value instanceof Unreadable) {
    const cut = ended ? "" : "; the file ends here without a line end and may be cut off";
    return { ...entry, faults: [{ field: "line", reason: value.reason + cut }] };
  }
  if (!("deleted" in value)) return { ...entry, records: [value as CanonicalRecord] };
  const { deleted, ...record } = value;
  if (deleted === false || deleted === null)
    return { ...entry, records: [record as CanonicalRecord] };
  if (deleted !== true)
    return { ...entry, faults: [{ field: "deleted", reason: "must be true or false" }] };
  return isName(record)
    ? { ...entry, deleted: [record] }
    : { ...entry, faults: [{ field: "deleted", reason: "needs `record` and `id` of a record" }] };
}

/** Reports whether an object names a record to remove. Ignores other members. */
function isName(record: object): record is RecordName {
  const { record: kind, id } = record as Partial<Record<string, unknown>>;
  return recordKinds.includes(kind as RecordKind) && typeof id === "string" && id !== "";
}

const newline = 0x0a;
const carriageReturn = 0x0d;

/** Yields a file in blocks of whole lines, in bounded memory however long a line is. */
async function* readBlocks(file: string, encoding: Encoding): AsyncGenerator<LineBlock> {
  const common = { file: shownName(file), encoding };
  // One more byte allows for a carriage return.
  const isTooLong = (size: number) => size > lineBytesMax + 1;
  let firstLine = 1;
  /** Pieces of an unfinished line; empty if the line is too long. */
  let begun: Buffer[] = [];
  let begunBytes = 0;
  for await (const chunk of readBytes(file, encoding)) {
    const end = chunk.lastIndexOf(newline) + 1;
    let start = 0;
    if (end > 0) {
      const endOfBegun = chunk.indexOf(newline);
      if (isTooLong(begunBytes + endOfBegun)) {
        yield { ...common, firstLine: firstLine++, bytes: null, ended: true };
        start = endOfBegun + 1;
        begun = [];
      }
      const bytes = joined([...begun, chunk.subarray(start, end)]);
      if (bytes.length > 0) yield { ...common, firstLine, bytes, ended: true };
      for (let at = chunk.indexOf(newline, start); at >= 0; at = chunk.indexOf(newline, at + 1))
        firstLine++;
      begun = [];
      begunBytes = 0;
    }
    begunBytes += chunk.length - end;
    if (isTooLong(begunBytes)) begun = [];
    else begun.push(chunk.subarray(end));
  }
  if (begunBytes === 0) return;
  const bytes = isTooLong(begunBytes) ? null : joined(begun);
  yield { ...common, firstLine, bytes, ended: false };
}

/** Joins pieces in new memory, which another thread can take over. */
function joined(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const piece of pieces) {
    bytes.set(piece, end);
    end += piece.length;
  }
  return bytes;
}
