/** The id of a request: the client's where it is safe to log, else a new one. */
import { randomFillSync } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { maskKeys } from "#problems.ts";

const fromClient = /^[A-Za-z0-9._-]{1,64}$/;

/** Crockford's base 32: no letter that could be read as a digit. */
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/** All pairs of its letters, by ten bits. */
const pairs = Array.from(alphabet, (first) =>
  Array.from(alphabet, (second) => first + second),
).flat();
const timeLength = 10;
const randomPairs = 8;

const pool = new Uint16Array(2048);
let poolAt = pool.length;

let timeText = "";
let timeMilliseconds = -1;

/** `req_` and 26 characters that sort by time: 48 bits of milliseconds, 80 random ones (the ULID layout). */
export function makeRequestId(nowMilliseconds = Date.now()): string {
  if (nowMilliseconds !== timeMilliseconds) {
    timeMilliseconds = nowMilliseconds;
    timeText = timeCharacters(nowMilliseconds);
  }
  if (poolAt + randomPairs > pool.length) {
    randomFillSync(pool);
    poolAt = 0;
  }
  let id = `req_${timeText}`;
  for (let i = 0; i < randomPairs; i++) id += pairs[pool[poolAt++]! & 1023];
  return id;
}

function timeCharacters(milliseconds: number): string {
  let text = "";
  for (let left = milliseconds; text.length < timeLength; left = Math.floor(left / 32))
    text = alphabet[left % 32]! + text;
  return text;
}

export function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers["x-request-id"];
  const isFit = typeof given === "string" && fromClient.test(given) && maskKeys(given) === given;
  return isFit ? given : makeRequestId();
}
