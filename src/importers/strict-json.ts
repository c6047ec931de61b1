/** Parses JSON strictly: no repeated keys, bounded depth (RFC 8259, I-JSON RFC 7493). */
import { quoted, Unreadable } from "./import-fault.ts";

const depthMax = 32;

/** Returns the value of JSON text, or Unreadable with the reason why it is refused. */
export function parseStrictJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return new Unreadable(`is not JSON: ${parserWords(error as Error)}`);
  }
  const keys = countKeys(value, 1);
  if (Number.isNaN(keys)) return new Unreadable(`is nested deeper than ${depthMax} levels`);
  if (hasEachKeyOnce(text, keys)) return value;
  const repeated = firstRepeatedKey(text);
  return repeated === undefined
    ? value
    : new Unreadable(`gives the key ${quoted(repeated)} twice in one object; remove one of them`);
}

/** Returns the parser's message without "line 1", because the text is usually a single line of a file. */
function parserWords(error: Error): string {
  return error.message.replace(
    / in JSON at position \d+ \(line 1 column (\d+)\)/,
    " at character $1",
  );
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
 * such quote, so no key is repeated then. Returns false if anything is escaped, because an escaped quote hides where a
 * key ends, and V8 14 may decode an escaped key of a known shape wrongly.
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
