/** Damages bytes the way networks, proxies and attackers do. */
import { pick, weighted, whole, type Random } from "#demo/random.ts";
import { bitFlipped, byteReplaced, changed, type Mutation, put } from "../mutation.ts";

const telling = [
  0x00, 0x09, 0x0a, 0x0d, 0x20, 0x22, 0x23, 0x25, 0x26, 0x2c, 0x3a, 0x3b, 0x7f, 0x80, 0xff,
];
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
const framingWords = /content-length|transfer-encoding|chunked|host|HTTP\/1\.[01]|GET|HEAD|\r\n/gi;

const mutations = weighted<Mutation>([
  [bitFlipped, 4],
  [byteReplaced, 3],
  [(random, bytes) => changed(random, bytes, () => pick(random, telling)), 4],
  [
    (random, bytes) =>
      put(bytes, at(random, bytes), 0, Buffer.from(pick(random, pieces), "latin1")),
    4,
  ],
  [(random, bytes) => put(bytes, at(random, bytes), whole(random, 1, 12), none), 4],
  [(random, bytes) => bytes.subarray(0, at(random, bytes)), 2],
  [(random, bytes) => bytes.subarray(at(random, bytes)), 1],
  [repeatedPart, 2],
  [movedLine, 2],
  [lineEndChanged, 3],
  [wordLost, 3],
]);

const none = Buffer.alloc(0);

/** @returns other bytes, up to a few kilobytes more than were given. */
export function mutate(random: Random, bytes: Buffer, times: number): Buffer {
  let mutated = bytes;
  for (let left = times; left > 0 && mutated.length > 0; left--)
    mutated = mutations(random)(random, mutated);
  return mutated;
}

const at = (random: Random, bytes: Buffer) => whole(random, 0, Math.max(0, bytes.length - 1));

function repeatedPart(random: Random, bytes: Buffer): Buffer {
  const start = at(random, bytes);
  const part = bytes.subarray(start, start + whole(random, 1, 200));
  return put(bytes, start, 0, part);
}

function movedLine(random: Random, bytes: Buffer): Buffer {
  const lines = bytes.toString("latin1").split("\r\n");
  const [line = ""] = lines.splice(whole(random, 0, lines.length - 1), 1);
  lines.splice(whole(random, 0, lines.length), 0, line);
  return Buffer.from(lines.join("\r\n"), "latin1");
}

function lineEndChanged(random: Random, bytes: Buffer): Buffer {
  const text = bytes.toString("latin1");
  const lines = text.split("\r\n");
  const from = whole(random, 0, lines.length - 1);
  const end = pick(random, ["\n", "\r", "\r\r\n", "\n\r", " \r\n", ""]);
  const parts = [lines.slice(0, from).join("\r\n"), lines.slice(from).join("\r\n")];
  return Buffer.from(from === 0 ? parts[1]! : parts.join(end), "latin1");
}

/** Takes or doubles a word that decides where a request ends. */
function wordLost(random: Random, bytes: Buffer): Buffer {
  const text = bytes.toString("latin1");
  const found = [...text.matchAll(framingWords)];
  if (found.length === 0) return bytes;
  const { 0: word, index } = pick(random, found);
  const other = pick(random, ["", word + word, word.toLowerCase(), `${word} `]);
  return put(bytes, index, word.length, Buffer.from(other, "latin1"));
}
