/** Draws query strings: valid ones, questions whose answer is known, and every way to get one wrong. */
import fc, { type Arbitrary } from "fast-check";
import type { ReferenceQuery } from "../../test/support/reference.ts";
import {
  marketTitles,
  personWords,
  special,
  tagSpellings,
  themeSpellings,
  unsearchable,
  words,
} from "../../test/support/awkward/words.ts";
import { sometimes, weighted } from "../arbitraries.ts";
import {
  type ArgumentKind,
  isListPath,
  type ListPath,
  type OperationPath,
  parametersOfList,
} from "./promised.ts";

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

const scrambled = (unit: "grapheme" | "binary") =>
  fc.string({ unit, minLength: 1, maxLength: 30, size: "max" });

export const someText: Arbitrary<string> = weighted(
  [50, fc.constantFrom(...known)],
  [
    31,
    fc
      .tuple(
        fc.array(fc.constantFrom(...known), { minLength: 2, maxLength: 5 }),
        fc.constantFrom(" ", " ", "-", "", ", ", "  "),
      )
      .map(([parts, between]) => parts.join(between)),
  ],
  [8, scrambled("grapheme")],
  [7, scrambled("binary")],
  [4, fc.constantFrom(...enormous)],
);

/** Neither percent-encoded UTF-8 nor free of control characters. */
export const unreadable = [
  ..."%|%2|%zz|%ff|%c0%ae|%ed%a0%80|%f4%90%80%80|%80|%e2%82|%00|%0a|%0D%0A|%1b|%7f|%c2%85".split(
    "|",
  ),
  ..."stone%|%u0041|%E4%".split("|"),
];

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

/** A name and a value still to be encoded, or what is written in their place. */
type Pair = readonly [name: string, value: string] | string;

const pairOf = (names: readonly string[], values: Arbitrary<string>): Arbitrary<Pair> =>
  fc.tuple(fc.constantFrom(...names), values);
const joined = (...parts: readonly (readonly string[])[]): Arbitrary<Pair> =>
  fc.tuple(...parts.map((part) => fc.constantFrom(...part))).map((texts) => texts.join(""));

const wrongPair: Arbitrary<Pair> = weighted(
  [6, pairOf(["limit", "offset"], fc.constantFrom(...numbers))],
  [3, pairOf(strangers, someText)],
  [3, pairOf(filters, someText)],
  [3, joined(filters, ["="], unreadable)],
  [2, joined(filters, ["", "=", "=%20", "=+", "=%E2%80%8B"])],
  [2, fc.constantFrom("", "=", "==", "=1", "?limit=1", "?")],
  [1, joined(unreadable, ["="], ["1", "", "x"])],
  [1, joined(["gp_name="], rawBytes)],
  [1, fc.constantFrom(...keys)],
  [
    1,
    fc
      .tuple(
        fc.constantFrom("tag", "theme", "market", "limit", "x"),
        fc.constantFrom(9, 10, 11, 12, 40, 400),
      )
      .map(([name, count]) => Array.from({ length: count }, (_, at) => `${name}=${at}`).join("&")),
  ],
);

/** Draws a value of a parameter or an argument of a tool. */
export function rightValue(kind: ArgumentKind): Arbitrary<unknown> {
  switch (kind.kind) {
    case "text":
      return someText;
    case "texts":
      return fc.array(someText, { minLength: 1, maxLength: 3 });
    case "whole":
      return fc.nat(30).map((more) => Math.max(0, kind.minimum ?? 0) + more);
    case "date":
      return fc.constantFrom("2026", "2024-02", "2025-12-31", "0000", "9999-12-31", "-90d");
    case "flag":
      return fc.boolean();
    case "one of":
      return fc.constantFrom(...kind.values);
    case "some of":
      return fc.subarray([...kind.values]);
  }
}

/** Draws a value of a closed list, a date or a flag that is none, and a range that ends before it begins. */
function wrongOfList(path: ListPath): Arbitrary<Pair> {
  const names = Object.keys(parametersOfList(path));
  const ends = names.flatMap((name) => {
    const [, range, end] = /^(.+)_(from|min)$/.exec(name) ?? [];
    if (range === undefined) return [];
    return end === "from"
      ? [`${range}_from=2026-02&${range}_to=2026-01`, `${range}_to=-9d&${range}_from=-8d`]
      : [`${range}_min=2000&${range}_max=1999`];
  });
  return fc.oneof(
    pairOf(names, fc.constantFrom("no such value", "2026-02-30", "1.5", "")),
    fc.constantFrom(...ends),
  );
}

const pairsOfList = (path: ListPath): Arbitrary<Pair[]> =>
  fc
    .subarray(Object.entries(parametersOfList(path)), { maxLength: 4 })
    .chain((some) =>
      fc.tuple(
        ...some.map(([name, kind]) =>
          rightValue(kind).map((value) => [value].flat().map((one): Pair => [name, String(one)])),
        ),
      ),
    )
    .map((parts) => parts.flat());

function validPairs(path: OperationPath): Arbitrary<Pair[]> {
  if (isListPath(path)) return pairsOfList(path);
  const takesFacets = path === "/fetch-gp" || path === "/fetch-principals";
  const name = someText.map((text): Pair[] => [["gp_name", text]]);
  const others = fc.oneof(
    pairOf(["limit"], fc.integer({ min: 1, max: 100 }).map(String)),
    pairOf(["offset"], weighted([8, fc.nat(300)], [2, fc.nat()]).map(String)),
    ...(takesFacets ? ["tag", "theme", "market"] : []).map((facet) => pairOf([facet], someText)),
  );
  // Only facets may be given more than once.
  const oneOfAKind = ([first, value]: Pair) =>
    /limit|offset/.test(first!) ? first : `${first} ${value}`;
  return fc
    .tuple(
      sometimes(path === "/fetch-gp" ? 90 : 50, name, []),
      fc.uniqueArray(others, { maxLength: 4, selector: oneOfAKind }),
    )
    .map((parts) => parts.flat());
}

const unreserved = /[A-Za-z0-9_.~-]/;
/** Stand for themselves in a query, though the standard would have them escaped. */
const tolerated = /[!$'()*,:@/?"<>[\]^`{|};\\]/;

/** Draws one way of many to write a text into a query: UTF-8, percent-encoded, now and then more than needed. */
const spelling: Arbitrary<(text: string) => string> = fc
  .record({
    space: fc.constantFrom("%20", "+"),
    isEager: sometimes(10, fc.constant(true), false),
    isLenient: sometimes(30, fc.constant(true), false),
    isLowerCase: sometimes(30, fc.constant(true), false),
  })
  .map(
    ({ space, isEager, isLenient, isLowerCase }) =>
      (text: string) =>
        Array.from(Buffer.from(text), (byte) => {
          const one = String.fromCharCode(byte);
          if (one === " ") return space;
          if (!isEager && (unreserved.test(one) || (isLenient && tolerated.test(one)))) return one;
          return escapeOf(byte, isLowerCase);
        }).join(""),
  );

/** Draws what follows the `?`, half of it questions that the reference knows. @param wrongMax maximum number of wrong pairs. */
export function anyQuery(
  path: OperationPath,
  questions: readonly ReferenceQuery[],
  wrongMax = 3,
): Arbitrary<string> {
  // A list takes what the read of GPs takes, and more.
  const asking = isListPath(path) ? "/fetch-gp" : path;
  const own = questions.filter(({ operation }) => `/${operation}` === asking);
  const wrong = isListPath(path) ? weighted([1, wrongPair], [1, wrongOfList(path)]) : wrongPair;
  const asked: Arbitrary<Pair[]> = fc.constantFrom(...own).chain((question) => {
    const pairs = Object.entries(question).flatMap(([name, value]) =>
      name === "operation" ? [] : [value].flat().map((one) => [name, String(one)] as const),
    );
    return fc.shuffledSubarray(pairs, { minLength: pairs.length });
  });
  const drawn = fc
    .tuple(validPairs(path), fc.array(fc.tuple(fc.nat(5), wrong), { maxLength: wrongMax }))
    .map(([pairs, inserted]) =>
      inserted.reduce((before, [at, pair]) => before.toSpliced(at, 0, pair), pairs),
    );
  return fc
    .tuple(weighted([55, drawn], [45, asked]), spelling, sometimes(3, fc.constant("&&"), ""))
    .map(
      ([pairs, spell, edge]) =>
        edge +
        pairs
          .map((pair) => (typeof pair === "string" ? pair : pair.map(spell).join("=")))
          .join("&") +
        edge.slice(1),
    );
}

export function escapeOf(byte: number, isLowerCase: boolean): string {
  const digits = byte.toString(16).padStart(2, "0");
  return `%${isLowerCase ? digits : digits.toUpperCase()}`;
}
