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
    for await (const { lines, ended } of readLines(file, encoding))
      for (const bytes of lines) {
        line++;
        const text = bytes.length > lineBytesMax ? tooLong : decode(bytes);
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

/** Lines without their ends. */
interface Lines {
  lines: Buffer[];
  /** False if the file ends without a line end, so that the line may be cut off. */
  ended: boolean;
}

/** Yields the lines of a file, some at a time, in bounded memory however long a line is. */
async function* readLines(file: string, encoding: Encoding): AsyncGenerator<Lines> {
  const withoutReturn = (line: Buffer) =>
    line.at(-1) === carriageReturn ? line.subarray(0, -1) : line;
  let begun: Buffer = Buffer.alloc(0);
  for await (const chunk of readBytes(file, encoding)) {
    if (begun.length > lineBytesMax + 1 && !chunk.includes(newline)) continue;
    const bytes = begun.length === 0 ? chunk : Buffer.concat([begun, chunk]);
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, start)) {
      lines.push(withoutReturn(bytes.subarray(start, end)));
      start = end + 1;
    }
    yield { lines, ended: true };
    // Two bytes more than a line may have prove that it is too long, because one may be a carriage return.
    begun = bytes.subarray(start, start + lineBytesMax + 2);
  }
  if (begun.length > 0) yield { lines: [withoutReturn(begun)], ended: false };
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
