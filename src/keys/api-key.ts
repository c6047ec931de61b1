/** Text of an API key: makes keys, checks their form without a store, and finds them in other text. */
import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import { randomText } from "#store/random-text.ts";

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const prefix = "gpr_";
const randomLength = 30;
const checkLength = 6;
const keyLength = prefix.length + randomLength + checkLength;
const hintLength = 8;

const wholeKey = /^gpr_[0-9A-Za-z]{36}$/;

/** Pattern of a key inside other text. Without the `g` flag, it keeps no position between tests. */
export const keyPattern = /\bgpr_[0-9A-Za-z]{36}\b/;

/** Returns a new key: `gpr_`, 30 random characters (about 178 bits), and a checksum of 6 characters. */
export function makeKey(): string {
  const body = prefix + randomText(base62, randomLength);
  return body + checkOf(body);
}

/** Returns the digest by which a key is looked up, or the fault of its text. */
export function readKey(text: string): { digest: string } | { fault: "malformed" | "checksum" } {
  if (text.length !== keyLength || !wholeKey.test(text)) return { fault: "malformed" };
  const bodyLength = keyLength - checkLength;
  if (text.slice(bodyLength) !== checkOf(text.slice(0, bodyLength))) return { fault: "checksum" };
  return { digest: hash("sha256", text, "base64") };
}

/** Returns a key's SHA-256 as it is stored, 32 bytes. A slow hash would add nothing: nobody can try 2^178 keys. */
export const digestKey = (key: string): Uint8Array => hash("sha256", key, "buffer");

/** Returns the part of a key that may be shown: its first 8 characters. */
export const hintOf = (key: string): string => key.slice(0, hintLength);

/** Returns the CRC-32 (as in zip and PNG) in base 62, most significant digit first, padded with zeros. */
function checkOf(body: string): string {
  let rest = crc32(body);
  let check = "";
  for (let place = 0; place < checkLength; place++) {
    check = base62[rest % 62] + check;
    rest = Math.floor(rest / 62);
  }
  return check;
}
