/** Packs request ids for the log: 16 bytes for an id of the service, the characters of any other id. */

const prefix = "req_";
/** Digits of Crockford's base 32, as `http/routes.ts` writes it. */
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const timeLength = 10;
const idLength = prefix.length + timeLength + 16;
const timeBytes = 6;
const packedBytes = 16;
/** Lowest character of an id. No packed time begins this high before the year 3084. */
const firstCharacter = 0x20;

const noDigit = 255;
const digits = new Uint8Array(256).fill(noDigit);
for (let i = 0; i < alphabet.length; i++) digits[alphabet.charCodeAt(i)] = i;

const packed = new Uint8Array(packedBytes);

/** Returns the bytes of an id of ASCII characters. Bytes of the service's own ids are valid until the next call. */
export function packRequestId(id: string): Uint8Array {
  return packOwn(id) ? packed : Buffer.from(id, "latin1");
}

function packOwn(id: string): boolean {
  if (id.length !== idLength || !id.startsWith(prefix)) return false;
  let seen = 0;
  let at = prefix.length;
  const next = (count: number): number => {
    let value = 0;
    for (const end = at + count; at < end; at++) {
      const digit = digits[id.charCodeAt(at)] ?? noDigit;
      seen |= digit;
      value = value * 32 + digit;
    }
    return value;
  };
  let time = next(timeLength);
  for (let i = timeBytes - 1; i >= 0; i--) {
    packed[i] = time;
    time = Math.floor(time / 256);
  }
  // Eight letters make five bytes.
  for (let half = timeBytes; half < packedBytes; half += 5) {
    const high = next(4);
    const low = next(4);
    packed[half] = high >>> 12;
    packed[half + 1] = high >>> 4;
    packed[half + 2] = ((high & 15) << 4) | (low >>> 16);
    packed[half + 3] = low >>> 8;
    packed[half + 4] = low;
  }
  return seen < alphabet.length && time === 0 && packed[0]! < firstCharacter;
}

/** Returns the id of these bytes. */
export function readRequestId(bytes: Uint8Array): string {
  if (bytes.length !== packedBytes || bytes[0]! >= firstCharacter)
    return Buffer.from(bytes).toString("latin1");
  let time = 0;
  for (let i = 0; i < timeBytes; i++) time = time * 256 + bytes[i]!;
  let text = "";
  for (let left = time; text.length < timeLength; left = Math.floor(left / 32))
    text = alphabet[left % 32]! + text;
  for (let half = timeBytes; half < packedBytes; half += 5) {
    const high = (bytes[half]! << 12) | (bytes[half + 1]! << 4) | (bytes[half + 2]! >>> 4);
    const low = ((bytes[half + 2]! & 15) << 16) | (bytes[half + 3]! << 8) | bytes[half + 4]!;
    for (const bits of [high, low])
      for (let shift = 15; shift >= 0; shift -= 5) text += alphabet[(bits >>> shift) & 31]!;
  }
  return prefix + text;
}
