/** Reads canonical records from NDJSON: one JSON object a line, as docs/importing.md describes. */
import { type CanonicalRecord, type RecordKind, recordKinds } from "#records/canonical.ts";
import type { RecordName, SourceEntry } from "#records/source-entry.ts";
import { type Decode, decoderOf, type Encoding } from "./encoding.ts";
import { refuseEmpty } from "./import-fault.ts";
import { readBytes } from "./source-bytes.ts";
import { type ReadOptions, shownName } from "./source-file.ts";
import { parseStrictJson } from "./strict-json.ts";
import { Unreadable } from "./unreadable.ts";

const lineBytesMax = 1024 * 1024;

/**
 * One entry for each line that is not blank; a line that cannot be read is an entry with a fault.
 * Records are not checked against their schema here.
 * @throws ImportFault where a file cannot be opened, is no text file, or holds no line.
 */
export async function* readNdjson(
  files: readonly string[],
  { encoding = "utf-8", allowsEmpty = false }: ReadOptions = {},
): AsyncGenerator<SourceEntry, void> {
  const decode = decoderOf(encoding);
  for (const file of files) {
    const name = shownName(file);
    let isEmpty = true;
    for await (const lines of readLines(file, lineBytesMax, encoding))
      for (const line of lines) {
        const value = readLine(line, decode);
        if (value === undefined) continue;
        isEmpty = false;
        yield entryOf(name, line, value);
      }
    if (isEmpty && !allowsEmpty) refuseEmpty(name);
  }
}

/** The object of a line, why there is none, or undefined for a blank line. */
function readLine({ bytes }: SourceLine, decode: Decode): object | Unreadable | undefined {
  if (bytes === null) return new Unreadable(`is longer than ${lineBytesMax} bytes`);
  const text = decode(bytes);
  if (text instanceof Unreadable) return text;
  if (text.trim() === "") return undefined;
  const value = parseStrictJson(text);
  if (value instanceof Unreadable) return value;
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return new Unreadable("must be a JSON object");
  return value;
}

function entryOf(file: string, line: SourceLine, value: object): SourceEntry {
  const entry = { file, line: line.number, records: [], namedGps: [], faults: [] };
  if (value instanceof Unreadable) {
    const cut = line.ended ? "" : "; the file ends here without a line end and may be cut off";
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

/** Of a record to be removed only its name counts; other members are ignored. */
function isName(record: object): record is RecordName {
  const { record: kind, id } = record as Partial<Record<string, unknown>>;
  return recordKinds.includes(kind as RecordKind) && typeof id === "string" && id !== "";
}

interface SourceLine {
  /** From 1, blank lines counted. */
  number: number;
  /** Without its line end; null where the line is longer than allowed and was dropped. */
  bytes: Buffer | null;
  /** False for a last line without a line end: the file may have been truncated there. */
  ended: boolean;
}

const newline = 0x0a;
const carriageReturn = 0x0d;

/** The lines of a file, a list for each chunk: one promise per chunk instead of one per line. */
async function* readLines(
  file: string,
  lineBytesMax: number,
  encoding: Encoding,
): AsyncGenerator<SourceLine[]> {
  const splitter = createLineSplitter(lineBytesMax);
  for await (const chunk of readBytes(file, encoding)) yield splitter.push(chunk);
  yield splitter.end();
}

/** Splits a stream of bytes into lines, in bounded memory however long a line is. */
function createLineSplitter(lineBytesMax: number) {
  let number = 1;
  let pieces: Buffer[] = [];
  let size = 0;

  const keep = (piece: Buffer) => {
    size += piece.length;
    if (size > lineBytesMax + 1) pieces = [];
    else pieces.push(piece);
  };
  const take = (ended: boolean): SourceLine => {
    const whole = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
    const bytes = whole.at(-1) === carriageReturn ? whole.subarray(0, -1) : whole;
    const dropped = size > lineBytesMax + 1 || bytes.length > lineBytesMax;
    pieces = [];
    size = 0;
    return { number: number++, bytes: dropped ? null : bytes, ended };
  };

  return {
    push(chunk: Buffer): SourceLine[] {
      const lines: SourceLine[] = [];
      let start = 0;
      for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
        keep(chunk.subarray(start, end));
        lines.push(take(true));
        start = end + 1;
      }
      if (start < chunk.length) keep(chunk.subarray(start));
      return lines;
    },
    end: (): SourceLine[] => (size > 0 ? [take(false)] : []),
  };
}
