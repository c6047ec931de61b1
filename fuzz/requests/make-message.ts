/** A message to `/mcp`: mostly calls of tools, with arguments right and wrong, and what is no message. */
import { chance, pick, weighted, whole, type Random } from "#demo/random.ts";
import { contentTypes } from "./header-values.ts";
import { makeHeaders } from "./make-headers.ts";
import { type ArgumentKind, messagesPath, messageType, promisedTools } from "./promised.ts";
import type { FuzzRequest, Header } from "./request.ts";
import { someText } from "./texts.ts";

const wrongValues: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  101,
  1e300,
  2_147_483_648,
  "",
  " ",
  "5",
  "no such value",
  "a\0b",
  "\ud800",
  "x".repeat(201),
  "x".repeat(20_000),
  "2026-13",
  "2026-02-30",
  "{{valid-a}}",
  [],
  [null],
  [1, 2],
  [[["x"]]],
  ["\u0085"],
  ["no such value"],
  Array.from({ length: 11 }, () => "x"),
  {},
  { $ne: "" },
  { length: 1, 0: "x" },
];

const strangers = [
  ..."gpName|gp-name|tags|limits|__proto__|constructor|toString|hasOwnProperty|$where|".split("|"),
  "{{valid-a}}",
  "\u202e",
  "x".repeat(300),
];

const rightValues: Readonly<Record<ArgumentKind["kind"], (random: Random) => unknown>> = {
  text: someText,
  texts: (random) => Array.from({ length: whole(random, 1, 3) }, () => someText(random)),
  whole: (random) => whole(random, 0, 30),
  date: (random) => pick(random, ["2026", "2024-02", "2025-12-31", "0000", "9999-12-31"]),
  "one of": () => "",
  "some of": () => [],
};

function valueFor(random: Random, kind: ArgumentKind): unknown {
  if (chance(random, 0.12)) return pick(random, wrongValues);
  if (kind.kind === "one of") return pick(random, kind.values);
  if (kind.kind === "some of") return kind.values.slice(whole(random, 0, 1));
  return rightValues[kind.kind](random);
}

/** JSON, written by hand where an object could not have the member. */
function argumentsText(random: Random, name: string): string {
  const { arguments: taken, required } = promisedTools[name]!;
  const pairs = Object.entries(taken)
    .filter(([one]) => chance(random, required.includes(one) ? 0.9 : 0.25))
    .map(([one, kind]): [string, unknown] => [one, valueFor(random, kind)]);
  const strangersCount = chance(random, 0.1) ? pick(random, [1, 1, 2, 30]) : 0;
  for (let left = strangersCount; left > 0; left--)
    pairs.push([
      pick(random, strangers) + (strangersCount > 2 ? left : ""),
      pick(random, wrongValues),
    ]);
  const texts = pairs.map(([one, value]) => `${JSON.stringify(one)}:${JSON.stringify(value)}`);
  return `{${texts.join(",")}}`;
}

const ids = ["1", "7", '"a"', '"\\u2028"', "0", "-1", "9007199254740991"];

function callText(random: Random): string {
  const name = pick(random, Object.keys(promisedTools));
  return `{"jsonrpc":"2.0","id":${pick(random, ids)},"method":"tools/call","params":{"name":"${name}","arguments":${argumentsText(random, name)}}}`;
}

const methods = [
  ..."initialize|ping|tools/list|resources/list|resources/read|prompts/list|logging/setLevel".split(
    "|",
  ),
  ..."notifications/initialized|notifications/cancelled|completion/complete|server/discover".split(
    "|",
  ),
  ..."tasks/get|tools/call|__proto__||{{valid-a}}".split("|"),
];
const oddParams = [
  "{}",
  "null",
  "[]",
  "5",
  '"x"',
  '{"uri":5}',
  '{"name":5}',
  '{"name":"__proto__"}',
];
const oddCalls = [
  '{"name":"list_gps","arguments":[]}',
  '{"name":"list_gps","arguments":"x"}',
  '{"name":"{{valid-a}}","arguments":{}}',
  '{"name":"list_gps","arguments":{},"_meta":5}',
  '{"name":"list_gps","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"9999"}}',
];
const oddIds = [...ids, "null", "1.5", "{}", "[]", "true", "1e400", `"${"x".repeat(127)}"`];

function oddMessage(random: Random): string {
  const isCall = chance(random, 0.4);
  const method = isCall ? '"tools/call"' : JSON.stringify(pick(random, methods));
  const members = [
    chance(random, 0.9) ? '"jsonrpc":"2.0"' : pick(random, ['"jsonrpc":"1.0"', '"jsonrpc":2']),
    chance(random, 0.8) ? `"id":${pick(random, oddIds)}` : "",
    chance(random, 0.9) ? `"method":${method}` : pick(random, ['"method":5', '"result":{}']),
    chance(random, 0.7) ? `"params":${pick(random, isCall ? oddCalls : oddParams)}` : "",
    chance(random, 0.05) ? '"extra":1' : "",
  ];
  return `{${members.filter((one) => one !== "").join(",")}}`;
}

const deep = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;

const notifications = ["initialized", "cancelled", "progress", "{{valid-a}}"].map(
  (name) => `{"jsonrpc":"2.0","method":"notifications/${name}"}`,
);

/** What is no message: most of it is not read any further. */
const noMessages: readonly string[] = [
  "",
  "{",
  "null",
  "5",
  '"x"',
  "[]",
  `[${'{"jsonrpc":"2.0","id":1,"method":"ping"},'.repeat(20)}null]`,
  "\xff\xfe",
  "gp_name=x",
  `{"a":${deep(33)}}`,
  `{"a":${deep(20_000)}}`,
  `{"jsonrpc":"2.0","id":"${"x".repeat(200)}","method":"ping"}`,
  `{"jsonrpc":"2.0","id":1,"method":"${"x".repeat(60_000)}"}`,
  `{"jsonrpc":"2.0","id":1,"method":"ping","params":"${"x".repeat(70_000)}"}`,
  '{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}',
];

const bodies = weighted<(random: Random) => string>([
  [callText, 70],
  [oddMessage, 15],
  [(random) => pick(random, notifications), 7],
  [(random) => pick(random, noMessages), 8],
]);

const bearers: readonly string[] = [
  "Bearer {{valid-a}}",
  "bearer   {{valid-b}}",
  "BEARER {{valid-c}}",
  "Bearer {{unknown}}",
  "Bearer {{expired}}",
  "Bearer {{suspended}}",
  "Bearer",
  "Bearer {{valid-a}} x",
  "Bearer{{valid-a}}",
  "Basic {{valid-a}}",
  "{{valid-a}}",
];

const revisions: readonly Header[] = [
  ["mcp-protocol-version", "2025-06-18"],
  ["mcp-protocol-version", "2026-07-28"],
  ["mcp-protocol-version", "\xe9"],
  ["mcp-method", "tools/list"],
  ["mcp-name", "{{valid-a}}"],
  ["origin", "https://evil.example"],
  ["origin", "null"],
];

/** As long as a key that takes the place of a mark. */
const keyLength = 40;

export function makeMessage(random: Random): FuzzRequest {
  const method = chance(random, 0.96) ? "POST" : pick(random, ["GET", "HEAD", "OPTIONS", "DELETE"]);
  // One character a byte.
  const body = method === "POST" ? Buffer.from(bodies(random)(random)).toString("latin1") : "";
  const length = body.replaceAll(/\{\{valid-[a-d]\}\}/g, "k".repeat(keyLength)).length;
  const isBearer = chance(random, 0.3);
  const headers = makeHeaders(random).filter(
    ([name]) => !/^content-type$/i.test(name) && !(isBearer && /^x-api-key$/i.test(name)),
  );
  if (isBearer) headers.push(["authorization", ` ${pick(random, bearers)}`]);
  if (chance(random, 0.05)) headers.push(pick(random, revisions));
  const type = chance(random, 0.94)
    ? pick(random, [messageType, messageType, `${messageType}; charset=utf-8`, "Application/JSON"])
    : pick(random, contentTypes);
  if (chance(random, 0.99)) headers.push(["content-type", ` ${type}`]);
  if (body !== "") headers.push(["content-length", ` ${length}`]);
  return { method, target: messagesPath, version: "HTTP/1.1", headers, body };
}
