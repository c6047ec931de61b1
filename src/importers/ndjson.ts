/** Reads canonical records from NDJSON: one JSON object a line, as docs/importing.md describes. */
import type { CanonicalRecord } from "#records/canonical.ts";
import type { SourceEntry } from "#records/source-entry.ts";
import { readLines, type SourceLine } from "./source-lines.ts";
import { parseStrictJson } from "./strict-json.ts";
import { Unreadable } from "./unreadable.ts";
import { byteWords, firstInvalidUtf8 } from "./utf8.ts";

const lineBytesMax = 1024 * 1024;

/**
 * One entry for each line that is not blank; a line that cannot be read is an entry with a fault.
 * Records are not checked against their schema here.
 * @throws ImportFault where a file cannot be opened or is no text file.
 */
export async function* readNdjson(files: readonly string[]): AsyncGenerator<SourceEntry, void> {
  for (const file of files)
    for await (const lines of readLines(file, lineBytesMax))
      for (const line of lines) {
        const value = readLine(line);
        if (value !== undefined) yield entryOf(file, line, value);
      }
}

/** The record of a line, why there is none, or undefined for a blank line. */
function readLine({ bytes }: SourceLine): CanonicalRecord | Unreadable | undefined {
  if (bytes === null) return new Unreadable(`is longer than ${lineBytesMax} bytes`);
  const invalidAt = firstInvalidUtf8(bytes);
  if (invalidAt !== undefined)
    return new Unreadable(`is not UTF-8 at ${byteWords(bytes, invalidAt)}`);
  const text = bytes.toString("utf8");
  if (text.trim() === "") return undefined;
  const value = parseStrictJson(text);
  if (value instanceof Unreadable) return value;
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return new Unreadable("must be a JSON object");
  return value as CanonicalRecord;
}

function entryOf(file: string, line: SourceLine, value: CanonicalRecord | Unreadable): SourceEntry {
  const entry = { file, line: line.number, namedGps: [] };
  if (!(value instanceof Unreadable)) return { ...entry, records: [value], faults: [] };
  const cut = line.ended ? "" : "; the file ends here without a line end and may be cut off";
  return { ...entry, records: [], faults: [{ field: "line", reason: value.reason + cut }] };
}
