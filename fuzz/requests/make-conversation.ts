/** What happens on one connection, made from a seed and a number alone, so that any of them can be had again. */
import { chance, startRandom, weighted, whole, type Random } from "#demo/random.ts";
import type { ReferenceQuery } from "../../test/support/reference.ts";
import { makeRequest } from "./make-request.ts";
import { mutate } from "./mutate-bytes.ts";
import { bytesOf, etagMark, type FuzzRequest } from "./request.ts";
import type { Secrets } from "./secrets.ts";

export type Manner = keyof typeof mannerShares;

export interface Conversation {
  number: number;
  manner: Manner;
  requests: readonly FuzzRequest[];
  /** Damages the bytes of a conversation in raw bytes; leaves all others as they are. */
  damage(bytes: Buffer): Buffer;
  /** Where the bytes are cut into writes of their own, as shares of their length. */
  cuts: readonly number[];
  /** Our side is closed once all is sent. */
  halfCloses: boolean;
  /** The connection is dropped after so many bytes of answers; null where it is not. */
  dropsAfterBytes: number | null;
  /** Address it comes from, on loopback. */
  address: string;
}

const mannerShares = {
  /** Each request after the answer to the one before. */
  "one by one": 45,
  /** All requests at once, without waiting. */
  pipelined: 20,
  /** In several writes, cut anywhere. */
  "in pieces": 10,
  /** Gone before the answers have come. */
  dropped: 5,
  /** Bytes that were requests once. */
  "raw bytes": 20,
} as const;

const drawManner = weighted(Object.entries(mannerShares) as [Manner, number][]);
const lengthMax: Record<Manner, number> = {
  "one by one": 8,
  pipelined: 12,
  "in pieces": 3,
  dropped: 4,
  "raw bytes": 3,
};

export function makeConversation(
  seed: number,
  number: number,
  questions: readonly ReferenceQuery[],
): Conversation {
  const random = startRandom(seed, `conversation ${number}`);
  const manner = drawManner(random);
  const requests: FuzzRequest[] = [];
  for (let left = whole(random, 1, lengthMax[manner]); left > 0; left--)
    requests.push(nextRequest(random, requests.at(-1), questions));
  const isRaw = manner === "raw bytes";
  const isCut = manner === "in pieces" || (isRaw && chance(random, 0.2));
  const damageSeed = whole(random, 0, 2 ** 31);
  return {
    number,
    manner,
    requests,
    damage: (bytes) => (isRaw ? damaged(damageSeed, bytes) : bytes),
    cuts: isCut
      ? Array.from({ length: whole(random, 1, 12) }, random).toSorted((a, b) => a - b)
      : [],
    // Half a request would have to be waited for until its time is up.
    halfCloses: isRaw || (manner !== "one by one" && chance(random, 0.4)),
    dropsAfterBytes: manner === "dropped" ? dropPoint(random) : null,
    address: addressFrom(random),
  };
}

/** Now and then the one before once more: by its alias, or asking whether the answer is still the same. */
function nextRequest(
  random: Random,
  before: FuzzRequest | undefined,
  questions: readonly ReferenceQuery[],
): FuzzRequest {
  if (before === undefined || !chance(random, 0.12)) return makeRequest(random, questions);
  const headers = before.headers.filter(([name]) => !/^if-none-match$/i.test(name));
  const target = before.target.startsWith("/fetch-") ? `/v1${before.target}` : before.target;
  return { ...before, target, headers: [...headers, ["if-none-match", ` ${etagMark}`]] };
}

function damaged(seed: number, bytes: Buffer): Buffer {
  const random = startRandom(seed, "damage");
  return mutate(random, bytes, whole(random, 1, 4));
}

const dropPoint = (random: Random) => (chance(random, 0.4) ? 0 : whole(random, 1, 20_000));

/** Wrong keys are counted by address: from one alone all of them would soon be refused alike. */
const addressesMax = 200;

const addressFrom = (random: Random): string =>
  process.platform === "linux" ? `127.0.1.${whole(random, 1, addressesMax)}` : "127.0.0.1";

/** Bytes of all requests, one after the other. */
export const wholeOf = (requests: readonly FuzzRequest[], secrets: Secrets, etag: string): Buffer =>
  Buffer.concat(requests.map((request) => bytesOf(request, secrets, etag)));
