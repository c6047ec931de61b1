/** Ids of requests that the service made itself, as a time and ten random bytes instead of 30 characters. */

const prefix = "req_";
/** Crockford's base 32, as `http/request-id.ts` writes it. */
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const timeLength = 10;
const idLength = prefix.length + timeLength + 16;
export const randomBytes = 10;

const noDigit = 255;
const digits = new Uint8Array(256).fill(noDigit);
for (let i = 0; i < alphabet.length; i++) digits[alphabet.charCodeAt(i)] = i;

const digitAt = (text: string, at: number): number => digits[text.charCodeAt(at)] ?? noDigit;

const sinceMadeMax = 2 ** 31;

/**
 * Packs the id of a request that was answered at `answeredAt`, in milliseconds since 1970.
 * @returns one more than the milliseconds from its making until then; 0 for an id that the service did not make, which is
 *   not packed: what `into` holds at `place` means nothing then.
 */
export function packOwnId(
  text: string,
  answeredAt: number,
  into: Uint8Array,
  place: number,
): number {
  const sinceMade = answeredAt - readOwnId(text, into, place) + 1;
  return sinceMade > 0 && sinceMade < sinceMadeMax ? sinceMade : 0;
}

/**
 * @param into where the random bytes go.
 * @returns the time in the id, in milliseconds since 1970; -1 for an id that the service did not make.
 */
export function readOwnId(text: string, into: Uint8Array, at: number): number {
  if (text.length !== idLength || !text.startsWith(prefix)) return -1;
  let seen = 0;
  let time = 0;
  let place = prefix.length;
  for (let i = 0; i < timeLength; i++) {
    const digit = digitAt(text, place++);
    seen |= digit;
    time = time * 32 + digit;
  }
  // Eight letters are five bytes.
  for (let half = at; half < at + randomBytes; half += 5) {
    let high = 0;
    let low = 0;
    for (let i = 0; i < 4; i++) {
      const digit = digitAt(text, place++);
      seen |= digit;
      high = (high << 5) | digit;
    }
    for (let i = 0; i < 4; i++) {
      const digit = digitAt(text, place++);
      seen |= digit;
      low = (low << 5) | digit;
    }
    into[half] = high >>> 12;
    into[half + 1] = high >>> 4;
    into[half + 2] = ((high & 15) << 4) | (low >>> 16);
    into[half + 3] = low >>> 8;
    into[half + 4] = low;
  }
  return seen >= alphabet.length ? -1 : time;
}

/** The id that was packed. */
export function ownIdText(time: number, bytes: Uint8Array, at: number): string {
  let text = "";
  for (let left = time; text.length < timeLength; left = Math.floor(left / 32))
    text = alphabet[left % 32]! + text;
  for (let half = at; half < at + randomBytes; half += 5) {
    const high = (bytes[half]! << 12) | (bytes[half + 1]! << 4) | (bytes[half + 2]! >>> 4);
    const low = ((bytes[half + 2]! & 15) << 16) | (bytes[half + 3]! << 8) | bytes[half + 4]!;
    for (const bits of [high, low])
      for (let shift = 15; shift >= 0; shift -= 5) text += alphabet[(bits >>> shift) & 31]!;
  }
  return prefix + text;
}
