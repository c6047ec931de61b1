/** Reads canonical records from NDJSON: one JSON object a line, as docs/importing.md describes. */
import { recordKinds, type CanonicalRecord, type RecordKind } from "#records/canonical.ts";
import type { RecordName, SourceEntry } from "#records/source-entry.ts";
import { decoderOf, type Decode } from "./encoding.ts";
import { refuseEmpty } from "./import-fault.ts";
import type { ReadOptions } from "./read-options.ts";
import { shownName } from "./source-file.ts";
import { readLines, type SourceLine } from "./source-lines.ts";
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

/** Only its name counts of a record that is to be removed; what else is said of it is passed over. */
function isName(record: object): record is RecordName {
  const { record: kind, id } = record as Partial<Record<string, unknown>>;
  return recordKinds.includes(kind as RecordKind) && typeof id === "string" && id !== "";
}
