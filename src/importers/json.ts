/**
 * Reads JSON strictly (RFC 8259, I-JSON RFC 7493): refuses repeated keys and deep nesting. Reads a single text, or
 * canonical records from NDJSON with one object per line, as docs/importing.md describes.
 */
import type { CanonicalRecord, RecordName, SourceEntry } from "#records/canonical.ts";
import { type RecordKind, recordKinds } from "#records/kinds.ts";
import { decoderOf, type Encoding } from "./encoding.ts";
import { quoted, refuseEmpty, Unreadable } from "./import-fault.ts";
import { readBytes, type ReadOptions, shownName } from "./source-file.ts";

const lineBytesMax = 1024 * 1024;
const tooLong = new Unreadable(
  `is longer than ${lineBytesMax} bytes; put each record on a line of its own, and shorten a record that is still too long`,
);

/**
 * Yields an entry for each line that is not blank. The entry of an unreadable line has only a fault. Does not check
 * records against their schema.
 * @throws ImportFault if a file cannot be read, has another format, or has only blank lines and `allowsEmpty` is false.
 */
export async function* readNdjson(
  files: readonly string[],
  { encoding = "utf-8", allowsEmpty = false }: ReadOptions = {},
): AsyncGenerator<SourceEntry, void> {
  const decode = decoderOf(encoding);
  for (const file of files) {
    const name = shownName(file);
    let line = 0;
    let isEmpty = true;
    for await (const { bytes, ended } of readBlocks(file, encoding))
      for (const text of linesIn(bytes, decode)) {
        line++;
        const value = text instanceof Unreadable ? text : readLine(text);
        if (value === undefined) continue;
        isEmpty = false;
        const entry = entryOf(name, line, ended, value);
        if (typeof text === "string" && isPlain(text)) entry.isPlain = true;
        yield entry;
      }
    if (isEmpty && !allowsEmpty) refuseEmpty(name);
  }
}

const newline = 0x0a;
const carriageReturn = 0x0d;

/** Whole lines, without the last line end. */
interface Block {
  bytes: Buffer;
  /** False if the file ends without a line end, so that the line may be cut off. */
  ended: boolean;
}

/** Yields the lines of a file in blocks. Keeps memory bounded, however long a line is. */
async function* readBlocks(file: string, encoding: Encoding): AsyncGenerator<Block> {
  let begun: Buffer = Buffer.alloc(0);
  for await (const chunk of readBytes(file, encoding)) {
    if (begun.length > lineBytesMax + 1 && !chunk.includes(newline)) continue;
    const bytes = begun.length === 0 ? chunk : Buffer.concat([begun, chunk]);
    const end = bytes.lastIndexOf(newline);
    if (end >= 0) yield { bytes: bytes.subarray(0, end), ended: true };
    // Two bytes beyond the limit are enough to tell that a line is too long: one may be its carriage return.
    begun = bytes.subarray(end + 1, end + 1 + lineBytesMax + 2);
  }
  if (begun.length > 0) yield { bytes: begun, ended: false };
}

/** Returns the lines of a block without their ends. Decodes them together, which is faster, if all are readable. */
function linesIn(bytes: Buffer, decode: ReturnType<typeof decoderOf>): (string | Unreadable)[] {
  const text = bytes.length > lineBytesMax ? tooLong : decode(bytes);
  if (typeof text === "string")
    return text.split("\n").map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
  const lines: (string | Unreadable)[] = [];
  for (let start = 0, end; start <= bytes.length; start = end + 1) {
    end = bytes.indexOf(newline, start);
    if (end < 0) end = bytes.length;
    const line = bytes.subarray(start, bytes[end - 1] === carriageReturn ? end - 1 : end);
    lines.push(line.length > lineBytesMax ? tooLong : decode(line));
  }
  return lines;
}

/**
 * Reports whether a line contains neither an escape nor DEL. The values of a plain line have no ASCII control
 * characters or lone surrogates, because JSON must escape all of these but DEL.
 */
const isPlain = (text: string) => !text.includes("\\") && !text.includes("\x7f");

/** Returns a line's object, or Unreadable if there is none. Returns undefined for a blank line. */
function readLine(text: string): object | Unreadable | undefined {
  if (text.trim() === "") return undefined;
  const value = parseStrictJson(text);
  if (value instanceof Unreadable) return value;
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return new Unreadable('must be a JSON object, such as {"record":"gp","id":"1","name":"Acme"}');
  return value;
}

/** Returns the entry of a line. @param ended false if the line has no end. */
function entryOf(file: string, line: number, ended: boolean, value: object): SourceEntry {
  const entry = { file, line, records: [], namedGps: [], faults: [] };
  const faulty = (field: string, reason: string) => ({ ...entry, faults: [{ field, reason }] });
  if (value instanceof Unreadable) {
    const cut = ended ? "" : "; the file ends here without a line end and may be cut off";
    return faulty("line", value.reason + cut);
  }
  if (!("deleted" in value)) return { ...entry, records: [value as CanonicalRecord] };
  const { deleted, ...record } = value;
  if (deleted === false || deleted === null)
    return { ...entry, records: [record as CanonicalRecord] };
  if (deleted !== true) return faulty("deleted", "must be true or false");
  if (isName(record)) return { ...entry, deleted: [record] };
  return faulty("deleted", "needs the `record` and the `id` of the record to remove");
}

/** Reports whether an object names a record to remove. Ignores other members. */
function isName(record: object): record is RecordName {
  const { record: kind, id } = record as Partial<Record<string, unknown>>;
  return recordKinds.includes(kind as RecordKind) && typeof id === "string" && id !== "";
}

const depthMax = 32;

/** Returns the value of JSON text, or Unreadable with the reason why it is refused. */
export function parseStrictJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // The text is usually a single line of a file, so the parser's "line 1" is left out.
    const words = (error as Error).message.replace(
      / in JSON at position \d+ \(line 1 column (\d+)\)/,
      " at character $1",
    );
    return new Unreadable(`is not JSON: ${words}`);
  }
  const keys = countKeys(value, 1);
  if (Number.isNaN(keys)) return new Unreadable(`is nested deeper than ${depthMax} levels`);
  if (hasEachKeyOnce(text, keys)) return value;
  const repeated = firstRepeatedKey(text);
  return repeated === undefined
    ? value
    : new Unreadable(`gives the key ${quoted(repeated)} twice in one object; remove one of them`);
}

/** Counts the keys of all objects in a value. Returns NaN if it is nested too deeply. */
function countKeys(value: unknown, depth: number): number {
  if (typeof value !== "object" || value === null) return 0;
  if (depth > depthMax) return Number.NaN;
  let keys = 0;
  if (Array.isArray(value)) for (const item of value) keys += countKeys(item, depth + 1);
  else
    for (const key in value) {
      keys += 1 + countKeys((value as Record<string, unknown>)[key], depth + 1);
    }
  return keys;
}

/**
 * Reports whether text has exactly as many quotes before colons as `JSON.parse` kept keys. Each key in the text has one
 * such quote, so equal counts prove that no key is repeated. Returns false if anything is escaped: an escaped quote
 * hides where a key ends, and V8 14 may decode an escaped key of a known shape wrongly.
 */
function hasEachKeyOnce(text: string, keysKept: number): boolean {
  if (text.includes("\\")) return false;
  let ends = 0;
  // A regular expression would take four times as long, a few per cent of an import.
  for (let colon = text.indexOf(":"); colon >= 0; colon = text.indexOf(":", colon + 1)) {
    let before = colon - 1;
    while (blanks.has(text.charCodeAt(before))) before--;
    if (text.charCodeAt(before) === quote) ends++;
  }
  return ends === keysKept;
}

const quote = 0x22;
/** JSON's white space: space, tab, line feed and carriage return. */
const blanks: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);

const token = /"[^"\\]*(?:\\.[^"\\]*)*"(?=([ \t\r\n]*:)?)|[{}]/g;

/** Returns the first key that an object repeats; undefined if none does. Slow but exact. @param text valid JSON. */
function firstRepeatedKey(text: string): string | undefined {
  const open: Set<string>[] = [];
  for (const [written, colon] of text.matchAll(token)) {
    if (written === "{") open.push(new Set());
    else if (written === "}") open.pop();
    else if (colon !== undefined) {
      const key = JSON.parse(written) as string;
      const keys = open.at(-1) as Set<string>;
      if (keys.has(key)) return key;
      keys.add(key);
    }
  }
  return undefined;
}
