/** Unguessable strings for ids, keys and tokens. */
import { hash, randomBytes, randomInt } from "node:crypto";

const idAlphabet = "0123456789abcdefghijklmnopqrstuvwxyz";
const idLength = 16;

/** Returns a new id, such as `ac_4k0t…`: the prefix, `_`, and 16 random characters from [0-9a-z] (about 83 bits). */
export function makeId(prefix: string): string {
  return `${prefix}_${randomText(idAlphabet, idLength)}`;
}

/** Returns `length` characters from `alphabet`, each equally likely, from the system's secure random source. */
export const randomText = (alphabet: string, length: number): string =>
  Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join("");

/** Returns 256 random bits as 43 characters of base64url. */
export const makeToken = (): string => randomBytes(32).toString("base64url");

/** Returns the SHA-256 under which a token is stored. A slow hash would add nothing: nobody can try 2^256 tokens. */
export const digestToken = (token: string): Uint8Array => hash("sha256", token, "buffer");
