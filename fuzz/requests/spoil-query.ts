/** The ways to get a query string wrong. */
import { chance, pick, weighted, whole, type Random } from "#demo/random.ts";
import { encoded, someText, unreadable } from "./texts.ts";

const filters = ["gp_name", "tag", "theme", "market"];
const strangers = [
  ..."gp_nme|GP_NAME|Limit|gp_name[]|gp_name[$ne]|__proto__|__proto__[limit]|constructor".split(
    "|",
  ),
  ..."hasOwnProperty|toString|q|page|limits|ofset|tags|markt|api_key|x-api-key|fields".split("|"),
  ..."| limit|gp%5Fname |ｌｉｍｉｔ".split("|"),
  "x".repeat(300),
];
const numbers = [
  ..."1|2|20|99|100|0|101|-1|+5|5.0|1e2|0x10| 5|5 |abc||007|0000000000000000000000005".split("|"),
  ..."2147483647|2147483648|9007199254740993|18446744073709551616|Infinity|NaN|null|true".split(
    "|",
  ),
  ..."٥|５|²|1_000|1,000|5;|5\u00a0|--1|1'".split("|"),
  "9".repeat(400),
];
/** Bytes beyond ASCII as they are: valid UTF-8, or not. */
const rawBytes = ["\xe9", "\xc3\xa9", "caf\xc3\xa9", "\xff\xfe", "\xe4\xb8\x89", "\x80"];
const keys = ["k={{valid-a}}", "x-api-key={{unknown}}", "gp_name={{valid-b}}", "{{valid-a}}"];

/** A name and a value as they are written, or what stands in their place. */
export type Pair = string;

export const pairOf = (random: Random, name: string, value: string): Pair =>
  `${encoded(random, name)}=${encoded(random, value)}`;

const numbered = (random: Random) =>
  pairOf(random, pick(random, ["limit", "offset"]), pick(random, numbers));

const wrongPair = weighted<(random: Random) => Pair>([
  [numbered, 6],
  [(random) => pairOf(random, pick(random, strangers), someText(random)), 3],
  [(random) => pairOf(random, pick(random, filters), someText(random)), 3],
  [(random) => `${pick(random, filters)}=${pick(random, unreadable)}`, 3],
  [(random) => pick(random, filters) + pick(random, ["", "=", "=%20", "=+", "=%E2%80%8B"]), 2],
  [(random) => pick(random, ["", "=", "==", "=1", "?limit=1", "?"]), 2],
  [(random) => `${pick(random, unreadable)}=${pick(random, ["1", "", "x"])}`, 1],
  [(random) => `gp_name=${pick(random, rawBytes)}`, 1],
  [(random) => pick(random, keys), 1],
]);

/** Damages a list of pairs in one way or another: a wrong one more, one twice, one less, or very many. */
export function spoil(random: Random, pairs: Pair[]): void {
  const place = whole(random, 0, pairs.length);
  if (chance(random, 0.03)) pairs.push(...manyPairs(random));
  else if (chance(random, 0.05)) pairs.splice(place, 1);
  else if (chance(random, 0.12) && pairs.length > 0) pairs.splice(place, 0, pick(random, pairs));
  else pairs.splice(place, 0, wrongPair(random)(random));
}

function manyPairs(random: Random): Pair[] {
  const name = pick(random, ["tag", "theme", "market", "limit", "x"]);
  const count = pick(random, [9, 10, 11, 12, 40, 400]);
  return Array.from({ length: count }, (_, at) => `${name}=${at}`);
}
