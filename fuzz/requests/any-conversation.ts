/** Draws what happens on one connection. */
import fc, { type Arbitrary } from "fast-check";
import type { ReferenceQuery } from "../../test/support/reference.ts";
import { anyText, damageOf, place, sometimes, weighted, type Damage } from "../arbitraries.ts";
import { anyRequest } from "./any-request.ts";
import { etagMark, type FuzzRequest } from "./request.ts";

/**
 * `one by one`: each request after the answer to the one before; `pipelined`: all at once; `in pieces`: in several
 * writes, cut anywhere; `dropped`: gone before the answers have come; `raw bytes`: bytes that were requests once.
 */
export type Manner = "one by one" | "pipelined" | "in pieces" | "dropped" | "raw bytes";

export interface Conversation {
  manner: Manner;
  requests: readonly FuzzRequest[];
  /** What is done to the bytes of all requests together. */
  damages: readonly Damage[];
  /** Where the bytes are cut into writes of their own, in ten-thousandths of their length. */
  cuts: readonly number[];
  /** Our side is closed once all is sent. */
  halfCloses: boolean;
  /** The connection is dropped after so many bytes of answers; null where it is not. */
  dropsAfterBytes: number | null;
  /** Address it comes from, on loopback. */
  address: string;
}

const pieces = [
  "\r\n",
  "\n",
  "\r",
  "\r\n\r\n",
  " ",
  "\t",
  ":",
  "\0",
  "\xff\xfe",
  "\xef\xbb\xbf",
  "%00",
  "HTTP/1.1",
  " HTTP/1.1\r\nHost: x\r\n\r\n",
  "Content-Length: 5\r\n",
  "Content-Length: -1\r\n",
  "Content-Length: 99999999999999999999\r\n",
  "Transfer-Encoding: chunked\r\n",
  "Transfer-Encoding: chunked, identity\r\n",
  "ffffffffffffffff\r\n",
  "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
  "HEAD /health HTTP/1.1\r\nHost: x\r\n\r\n",
  "Expect: 100-continue\r\n",
  "Connection: upgrade\r\nUpgrade: h2c\r\n",
  "Host: y\r\n",
  " folded\r\n",
  "X: y\r\n".repeat(2600),
  "a".repeat(17_000),
];
const framingWords = /content-length|transfer-encoding|chunked|host|HTTP\/1\.[01]|GET|HEAD|\r\n/i;
const telling = [...'\0\t\n\r "#%&,:;\x7f\x80\xff'];

const damage = damageOf(
  ...anyText,
  [4, /^[^]/, telling],
  [4, /^/, pieces],
  [2, /(.*\r\n)(.*\r\n)/, ["$2$1"]],
  [3, /\r\n/, ["\n", "\r", "\r\r\n", "\n\r", " \r\n", ""]],
  [3, framingWords, ["", "$&$&", "$& ", "get", "http/1.1", "Content-Length", "chunked"]],
);

/** Wrong keys are counted by address: from one alone all of them would soon be refused alike. */
const addressesMax = process.platform === "linux" ? 200 : 1;
const never = fc.constant(false);
const no = fc.constant<number[]>([]);
const cuts = fc
  .array(place, { minLength: 1, maxLength: 12 })
  .map((some) => some.toSorted((a, b) => a - b));

export function anyConversation(questions: readonly ReferenceQuery[]): Arbitrary<Conversation> {
  const request = anyRequest(questions);
  const inManner = (manner: Manner, requestsMax: number, parts: Partial<Parts> = {}) =>
    fc.record<Conversation>({
      manner: fc.constant(manner),
      requests: requestsOf(request, requestsMax),
      damages: fc.constant([]),
      cuts: no,
      // Half a request would have to be waited for until its time is up.
      halfCloses: sometimes(40, fc.constant(true), false),
      dropsAfterBytes: fc.constant(null),
      address: fc
        .integer({ min: 1, max: addressesMax })
        .map((host) => `127.0.${addressesMax > 1 ? 1 : 0}.${host}`),
      ...parts,
    });
  return weighted(
    [45, inManner("one by one", 8, { halfCloses: never })],
    [20, inManner("pipelined", 12)],
    [10, inManner("in pieces", 3, { cuts })],
    [
      5,
      inManner("dropped", 4, {
        dropsAfterBytes: weighted([4, fc.constant(0)], [6, fc.integer({ min: 1, max: 20_000 })]),
      }),
    ],
    [
      20,
      inManner("raw bytes", 3, {
        damages: fc.array(damage, { minLength: 1, maxLength: 4 }),
        cuts: weighted([4, no], [1, cuts]),
        halfCloses: fc.constant(true),
      }),
    ],
  );
}

type Parts = { [Name in keyof Conversation]: Arbitrary<Conversation[Name]> };

/** Now and then the one before comes once more: by its alias, asking whether the answer is still the same. */
const requestsOf = (request: Arbitrary<FuzzRequest>, maxLength: number): Arbitrary<FuzzRequest[]> =>
  fc
    .array(fc.tuple(request, sometimes(12, fc.constant(true), false)), {
      minLength: 1,
      maxLength,
      size: "max",
    })
    .map((drawn) => {
      const requests: FuzzRequest[] = [];
      for (const [one, isAgain] of drawn) {
        const before = requests.at(-1);
        requests.push(before !== undefined && isAgain ? askedAgain(before) : one);
      }
      return requests;
    });

function askedAgain({ target, headers, ...before }: FuzzRequest): FuzzRequest {
  return {
    ...before,
    target: /^\/(?:fetch|list)-/.test(target) ? `/v1${target}` : target,
    headers: [
      ...headers.filter(([name]) => !/^if-none-match$/i.test(name)),
      ["if-none-match", ` ${etagMark}`],
    ],
  };
}
