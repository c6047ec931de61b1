/** Reads canonical records from NDJSON, one JSON object per line, as docs/importing.md describes. */
import type { CanonicalRecord, RecordName, SourceEntry } from "#records/canonical.ts";
import { type RecordKind, recordKinds } from "#records/kinds.ts";
import { decoderOf, type Encoding } from "./encoding.ts";
import { refuseEmpty, Unreadable } from "./import-fault.ts";
import { readBytes, type ReadOptions, shownName } from "./source-file.ts";
import { parseStrictJson } from "./strict-json.ts";

const lineBytesMax = 1024 * 1024;
const tooLong = new Unreadable(
  `is longer than ${lineBytesMax} bytes; put each record on a line of its own, and shorten a record that is still too long`,
);

/**
 * Yields an entry for each line that is not blank. The entry of an unreadable line has only a fault. Does not check
 * records against their schema.
 * @throws ImportFault if a file cannot be read or has another format. Throws it too if a file has only blank lines,
 *   unless the options allow that.
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

/** Whole lines, without the end of the last. */
interface Block {
  bytes: Buffer;
  /** False if the file ends without a line end, so that the line may be cut off. */
  ended: boolean;
}

/** Yields the lines of a file, some at a time, in bounded memory however long a line is. */
async function* readBlocks(file: string, encoding: Encoding): AsyncGenerator<Block> {
  let begun: Buffer = Buffer.alloc(0);
  for await (const chunk of readBytes(file, encoding)) {
    if (begun.length > lineBytesMax + 1 && !chunk.includes(newline)) continue;
    const bytes = begun.length === 0 ? chunk : Buffer.concat([begun, chunk]);
    const end = bytes.lastIndexOf(newline);
    if (end >= 0) yield { bytes: bytes.subarray(0, end), ended: true };
    // Two bytes more than a line may have prove that it is too long, because one may be a carriage return.
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
    return new Unreadable('must be a JSON object, such as {"record":"gp","id":"1","name":"Acme"}');
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
    : {
        ...entry,
        faults: [
          { field: "deleted", reason: "needs the `record` and the `id` of the record to remove" },
        ],
      };
}

/** Reports whether an object names a record to remove. Ignores other members. */
function isName(record: object): record is RecordName {
  const { record: kind, id } = record as Partial<Record<string, unknown>>;
  return recordKinds.includes(kind as RecordKind) && typeof id === "string" && id !== "";
}
