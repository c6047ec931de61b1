/** Texts to ask for, and the many ways to write one into an address. */
import { chance, pick, whole, type Random } from "#demo/random.ts";
import {
  marketTitles,
  personWords,
  special,
  tagSpellings,
  themeSpellings,
  unsearchable,
  words,
} from "../../test/support/awkward/words.ts";

const known = [
  ...words,
  ...special,
  ...unsearchable,
  ...personWords,
  ...tagSpellings.flat(),
  ...themeSpellings.flat(),
  ...marketTitles,
];

/** Longer than anything allowed, or made to keep a careless pattern busy. */
const enormous = [
  "a".repeat(201),
  "🏢".repeat(101),
  "e\u0301".repeat(150),
  `${"a".repeat(3000)}!`,
  "(".repeat(2500),
  " ".repeat(900),
  "%".repeat(1200),
  "三".repeat(700),
  `${"ab ".repeat(66)}ab`,
];

export function someText(random: Random): string {
  if (chance(random, 0.04)) return pick(random, enormous);
  if (chance(random, 0.15)) return scrambled(random);
  const count = chance(random, 0.6) ? 1 : whole(random, 2, 5);
  const parts = Array.from({ length: count }, () => pick(random, known));
  return parts.join(pick(random, [" ", " ", "-", "", ", ", "  "]));
}

/** Code points of every length in UTF-8, none of them half a surrogate pair. */
function scrambled(random: Random): string {
  const ranges = [
    [0x20, 0x7e],
    [0xa0, 0x17f],
    [0x300, 0x36f],
    [0x2000, 0x206f],
    [0x3040, 0xd7ff],
    [0xe000, 0xfffd],
    [0x10000, 0x10ffff],
  ] as const;
  return Array.from({ length: whole(random, 1, 30) }, () =>
    String.fromCodePoint(inRange(random, pick(random, ranges))),
  ).join("");
}

const inRange = (random: Random, [first, last]: readonly [number, number]) =>
  whole(random, first, last);

const unreserved = /[A-Za-z0-9_.~-]/;
/** Stand for themselves in a query, though the standard would have them escaped. */
const tolerated = /[!$'()*,:@/?"<>[\]^`{|};\\]/;

/** One way of many to write a text into a query: UTF-8, percent-encoded, more than needed now and then. */
export function encoded(random: Random, text: string): string {
  const eager = chance(random, 0.1);
  const lenient = chance(random, 0.3);
  const lowerCase = chance(random, 0.3);
  let out = "";
  for (const byte of Buffer.from(text)) {
    const one = String.fromCharCode(byte);
    if (one === " ") out += chance(random, 0.5) ? "+" : "%20";
    else if (!eager && (unreserved.test(one) || (lenient && tolerated.test(one)))) out += one;
    else out += escapeOf(byte, lowerCase);
  }
  return out;
}

export function escapeOf(byte: number, lowerCase = false): string {
  const digits = byte.toString(16).padStart(2, "0");
  return `%${lowerCase ? digits : digits.toUpperCase()}`;
}

/** Not percent-encoded UTF-8, or with a control character in it. */
export const unreadable = [
  "%",
  "%2",
  "%zz",
  "%ff",
  "%c0%ae",
  "%ed%a0%80",
  "%f4%90%80%80",
  "%80",
  "%e2%82",
  "%00",
  "%0a",
  "%0D%0A",
  "%1b",
  "%7f",
  "%c2%85",
  "stone%",
  "%u0041",
  "%E4%",
] as const;
