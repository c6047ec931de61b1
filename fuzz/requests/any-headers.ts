/** Draws headers: a key or none, what is accepted, what is known already, and noise. */
import fc, { type Arbitrary } from "fast-check";
import { sometimes, weighted } from "../arbitraries.ts";
import { acceptEncodings, accepts, hosts, requestIds, tags } from "./header-values.ts";
import type { Header } from "./request.ts";
import { roles, validRoles, type Role } from "./secrets.ts";

const wrongKeys = [
  "",
  " ",
  "gpr_",
  "Bearer {{valid-a}}",
  '"{{valid-a}}"',
  "{{valid-a}}x",
  "\xe9\xff",
  "{{valid-a}}, {{valid-a}}",
  "a".repeat(9000),
];

const misplaced: readonly Header[] = [
  ["authorization", "Bearer {{valid-a}}"],
  ["cookie", "key={{valid-b}}; x-api-key={{valid-b}}"],
  ["x_api_key", "{{valid-a}}"],
  ["api-key", "{{valid-a}}"],
];

const named = (name: string, values: readonly string[]): Arbitrary<Header[]> =>
  fc.constantFrom(...values).map((value) => [[name, value]]);
const keyed = (some: readonly Role[]) =>
  named(
    "x-api-key",
    some.map((role) => `{{${role}}}`),
  );

const keyHeaders = weighted<Header[]>(
  [80, keyed(validRoles)],
  [8, keyed(roles)],
  [2, fc.constant([])],
  [2, named("x-api-key", wrongKeys)],
  [1, fc.tuple(keyed(roles), keyed(["valid-a"])).map((parts) => parts.flat())],
  [1, fc.constantFrom(...misplaced).map((header) => [header])],
);

const hostHeaders = weighted<Header[]>(
  [970, named("host", ["127.0.0.1"])],
  [15, named("host", [...hosts, "", "evil.example"])],
  [10, fc.constant([])],
  [
    5,
    fc.constant([
      ["host", "a"],
      ["host", "b"],
    ]),
  ],
);

/** Headers that decide something: how often of a hundred they are sent, and with what. */
const deciding: readonly (readonly [percent: number, name: string, values: readonly string[]])[] = [
  [30, "accept", accepts],
  [30, "accept-encoding", acceptEncodings],
  [30, "x-request-id", requestIds],
  [15, "if-none-match", tags],
  [5, "connection", ["close", "keep-alive", "Close", "x"]],
  [2, "expect", ["100-continue", "foo", "100-Continue"]],
  [0.4, "x-large", ["x".repeat(17_000), "x".repeat(40_000)]],
];

/** Headers that must decide nothing. */
const noise: readonly Header[] = [
  ["user-agent", "curl/8"],
  ["user-agent", "\x1b[31mred"],
  ["user-agent", "x\xe9y"],
  ["user-agent", "a".repeat(2000)],
  ["user-agent", "' OR 1=1 --"],
  ["user-agent", '{"level":60}'],
  ["x-forwarded-for", "299.1.2.3, evil"],
  ["forwarded", "for=evil.example;host=evil.example;proto=https"],
  ["x-forwarded-host", "evil.example"],
  ["origin", "https://evil.example"],
  ["origin", "null"],
  ["range", "bytes=0-1"],
  ["if-match", '"x"'],
  ["if-modified-since", "Thu, 01 Jan 2099 00:00:00 GMT"],
  ["x-http-method-override", "DELETE"],
  ["upgrade", "websocket"],
  ["te", "trailers"],
  ["referer", "http://evil.example/{{valid-a}}"],
  ["cookie", "a=b; a=b; __proto__=1"],
  ["__proto__", "1"],
  ["constructor", "x"],
  ["content-type", "application/json"],
  ["accept-language", "de, en;q=0.1"],
  ["x-long", "y".repeat(800)],
  ["x-empty", ""],
];

const alternating = (name: string) =>
  name.replaceAll(/../g, ([one, other]) => one!.toUpperCase() + other);

/** Draws all headers but those that frame a body. */
export const anyHeaders: Arbitrary<Header[]> = fc
  .tuple(
    fc.tuple(
      hostHeaders,
      keyHeaders,
      ...deciding.map(([percent, name, values]) =>
        sometimes<Header[]>(percent, named(name, values), []),
      ),
      sometimes<Header[]>(
        25,
        fc.array(fc.constantFrom(...noise), { minLength: 1, maxLength: 4 }),
        [],
      ),
    ),
    sometimes(
      20,
      fc.constantFrom((name: string) => name.toUpperCase(), alternating),
      (name: string) => name,
    ),
    sometimes<readonly [string, string]>(10, fc.constantFrom(["", ""], ["\t", " \t"], ["  ", ""]), [
      " ",
      "",
    ]),
  )
  .map(([parts, spell, [before, after]]) =>
    parts.flat().map(([name, value]) => [spell(name), before + value + after]),
  );
