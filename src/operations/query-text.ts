/** Splits a query string into names and values as sent; nothing is dropped or guessed. */

export interface Pair {
  name: string;
  value: string;
  /** Was the text percent-encoded UTF-8 without control characters? If not, name and value are left undecoded. */
  isReadable: boolean;
}

/** @param text what follows the first `?`; one character per byte, as Node gives it. */
export function readPairs(text: string): Pair[] {
  const pairs: Pair[] = [];
  for (const part of text.split("&")) {
    if (part === "") continue;
    const equals = part.indexOf("=");
    const rawName = equals === -1 ? part : part.slice(0, equals);
    const rawValue = equals === -1 ? "" : part.slice(equals + 1);
    const name = decode(rawName);
    const value = decode(rawValue);
    pairs.push({
      name: name ?? rawName,
      value: value ?? rawValue,
      isReadable: name !== undefined && value !== undefined,
    });
  }
  return pairs;
}

const plain = /^[A-Za-z0-9_.~-]*$/;
const brokenEscape = /%(?![0-9A-Fa-f]{2})/;
const controlCharacter = /\p{Cc}/u;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Undefined where an escape is broken, the bytes are not UTF-8, or they include a control character. */
function decode(raw: string): string | undefined {
  if (plain.test(raw)) return raw;
  if (brokenEscape.test(raw)) return undefined;
  const bytes = Buffer.from(
    raw
      .replaceAll("+", " ")
      .replace(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  );
  try {
    const text = utf8.decode(bytes);
    return controlCharacter.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}
