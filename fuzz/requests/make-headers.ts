/** Headers: a key or none, what is accepted, what is known already, and noise. */
import { chance, pick, weighted, type Random } from "#demo/random.ts";
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

const keyHeaders = weighted<(random: Random) => Header[]>([
  [(random) => [keyOf(pick(random, validRoles))], 80],
  [(random) => [keyOf(pick(random, roles))], 8],
  [() => [], 2],
  [(random) => [["x-api-key", pick(random, wrongKeys)]], 2],
  [(random) => [keyOf(pick(random, roles)), keyOf("valid-a")], 1],
  [(random) => [pick(random, misplaced)], 1],
]);

const keyOf = (role: Role): Header => ["x-api-key", `{{${role}}}`];

const misplaced: readonly Header[] = [
  ["authorization", "Bearer {{valid-a}}"],
  ["cookie", "key={{valid-b}}; x-api-key={{valid-b}}"],
  ["x_api_key", "{{valid-a}}"],
  ["api-key", "{{valid-a}}"],
];

/** Headers that decide something: how often they are sent, and with what. */
const deciding: readonly (readonly [share: number, name: string, values: readonly string[]])[] = [
  [0.3, "accept", accepts],
  [0.3, "accept-encoding", acceptEncodings],
  [0.3, "x-request-id", requestIds],
  [0.15, "if-none-match", tags],
  [0.05, "connection", ["close", "keep-alive", "Close", "x"]],
  [0.02, "expect", ["100-continue", "foo", "100-Continue"]],
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

/** All headers but those that frame a body. */
export function makeHeaders(random: Random): Header[] {
  const headers: Header[] = [
    ...hostHeaders(random),
    ...keyHeaders(random)(random),
    ...deciding
      .filter(([share]) => chance(random, share))
      .map(([, name, values]): Header => [name, pick(random, values)]),
  ];
  while (chance(random, 0.25)) headers.push(pick(random, noise));
  if (chance(random, 0.004)) headers.push(["x-large", "x".repeat(pick(random, [17_000, 40_000]))]);
  return headers.map(([name, value]) => [inSomeCase(random, name), padded(random, value)]);
}

function hostHeaders(random: Random): Header[] {
  if (chance(random, 0.97)) return [["host", "127.0.0.1"]];
  if (chance(random, 0.5)) return [["host", pick(random, hosts)]];
  return pick<Header[]>(random, [
    [],
    [["host", ""]],
    [["host", "evil.example"]],
    [
      ["host", "a"],
      ["host", "b"],
    ],
  ]);
}

const inSomeCase = (random: Random, name: string) =>
  chance(random, 0.8)
    ? name
    : name.replaceAll(/[a-z]/g, (one) => (chance(random, 0.5) ? one.toUpperCase() : one));

const padded = (random: Random, value: string) =>
  chance(random, 0.9) ? ` ${value}` : pick(random, [value, `\t${value} \t`, `  ${value}`]);
