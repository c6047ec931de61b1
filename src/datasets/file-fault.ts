/** Says what is wrong with the file of a generation, without reading it as a database. */
import { closeSync, openSync, readSync, statSync } from "node:fs";
import type { Generation } from "./catalogue.ts";
import { hashFile } from "./file-hash.ts";

/** Every SQLite database begins with these bytes: https://www.sqlite.org/fileformat.html#magic_header_string */
const magic = Buffer.from("SQLite format 3\0", "latin1");

/**
 * @param expected what the catalogue says of the file.
 * @returns the end of a sentence that begins with its path; undefined where it is the file that was published.
 */
export function fileFault(path: string, expected: Generation): string | undefined {
  const size = statSync(path).size;
  if (size < expected.bytes) return `was cut off: it has ${size} of ${expected.bytes} bytes`;
  if (!isDatabase(path)) return "is not an SQLite file";
  if (size > expected.bytes) return `has ${size} bytes; ${expected.bytes} were published`;
  return hashFile(path).sha256 === expected.sha256
    ? undefined
    : "is damaged: its SHA-256 is not that of the file that was published";
}

function isDatabase(path: string): boolean {
  const start = Buffer.alloc(magic.length);
  const file = openSync(path, "r");
  try {
    readSync(file, start);
  } finally {
    closeSync(file);
  }
  return start.equals(magic);
}
