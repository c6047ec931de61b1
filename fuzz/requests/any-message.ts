/** Draws messages to `/mcp`: mostly calls of tools, with arguments right and wrong, and what is no message. */
import fc, { type Arbitrary } from "fast-check";
import { sometimes, weighted } from "../arbitraries.ts";
import { anyHeaders } from "./any-headers.ts";
import { rightValue } from "./any-query.ts";
import { contentTypes } from "./header-values.ts";
import { messagesPath, messageType, promisedTools } from "./promised.ts";
import type { FuzzRequest, Header } from "./request.ts";

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

/** JSON of one member, written by hand as an object could not have each of them. */
type Members = readonly string[];

const member = (name: string, value: Arbitrary<unknown>): Arbitrary<Members> =>
  value.map((one) => [`${JSON.stringify(name)}:${JSON.stringify(one)}`]);

const odd = fc.constantFrom(...wrongValues);
const strange = fc.oneof(...strangers.map((name) => member(name, odd)));
const none: Members = [];

const ids = ["1", "7", '"a"', '"\\u2028"', "0", "-1", "9007199254740991"];

/** Arguments of a call, on average, in per cent of one: of the lists each takes dozens. */
const givenOfTool = 400;

const callTexts = Object.entries(promisedTools).map(([name, { arguments: taken, required }]) =>
  fc
    .tuple(
      fc.constantFrom(...ids),
      fc.tuple(
        ...Object.entries(taken).map(([one, kind]) =>
          sometimes(
            required.includes(one)
              ? 90
              : Math.min(25, Math.round(givenOfTool / Object.keys(taken).length)),
            weighted([88, member(one, rightValue(kind))], [12, member(one, odd)]),
            none,
          ),
        ),
        sometimes(
          9,
          fc
            .array(strange, { minLength: 1, maxLength: 2 })
            .map((some) => [...new Set(some.flat())]),
          none,
        ),
        sometimes(
          1,
          fc
            .tuple(...Array.from({ length: 30 }, (_, at) => member(`x${at}`, odd)))
            .map((some) => some.flat()),
          none,
        ),
      ),
    )
    .map(
      ([id, members]) =>
        `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${name}","arguments":{${members.flat().join(",")}}}}`,
    ),
);

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

const oddMessage = (method: Arbitrary<string>, params: readonly string[]): Arbitrary<string> =>
  fc
    .tuple(
      sometimes(10, fc.constantFrom('"jsonrpc":"1.0"', '"jsonrpc":2', ""), '"jsonrpc":"2.0"'),
      sometimes(
        80,
        fc.constantFrom(...oddIds).map((id) => `"id":${id}`),
        "",
      ),
      weighted(
        [9, method.map((one) => `"method":${one}`)],
        [1, fc.constantFrom('"method":5', '"result":{}')],
      ),
      sometimes(
        70,
        fc.constantFrom(...params).map((one) => `"params":${one}`),
        "",
      ),
      sometimes(5, fc.constant('"extra":1'), ""),
    )
    .map((members) => `{${members.filter((one) => one !== "").join(",")}}`);

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

const bodies = weighted(
  [70, fc.oneof(...callTexts)],
  [6, oddMessage(fc.constant('"tools/call"'), oddCalls)],
  [
    9,
    oddMessage(
      fc.constantFrom(...methods).map((method) => JSON.stringify(method)),
      oddParams,
    ),
  ],
  [7, fc.constantFrom(...notifications)],
  [8, fc.constantFrom(...noMessages)],
);

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

const types = weighted<string | null>(
  [46, fc.constant(messageType)],
  [48, fc.constantFrom(messageType, `${messageType}; charset=utf-8`, "Application/JSON")],
  [5, fc.constantFrom(...contentTypes)],
  [1, fc.constant(null)],
);

export const anyMessage: Arbitrary<FuzzRequest> = fc
  .record({
    method: sometimes(4, fc.constantFrom("GET", "HEAD", "OPTIONS", "DELETE"), "POST"),
    text: bodies,
    headers: anyHeaders,
    bearer: sometimes<string | null>(30, fc.constantFrom(...bearers), null),
    revision: sometimes<readonly Header[]>(
      5,
      fc.constantFrom(...revisions).map((one) => [one]),
      [],
    ),
    type: types,
  })
  .map(({ method, text, headers, bearer, revision, type }) => {
    // One character a byte.
    const body = method === "POST" ? Buffer.from(text).toString("latin1") : "";
    const length = body.replaceAll(/\{\{valid-[a-d]\}\}/g, "k".repeat(keyLength)).length;
    const isOurs = (name: string) =>
      /^content-type$/i.test(name) || (bearer !== null && /^x-api-key$/i.test(name));
    const added: [string, string | null][] = [
      ["authorization", bearer],
      ["content-type", type],
      ["content-length", body === "" ? null : String(length)],
    ];
    const own = added.flatMap(([name, value]): Header[] =>
      value === null ? [] : [[name, ` ${value}`]],
    );
    return {
      method,
      target: messagesPath,
      version: "HTTP/1.1",
      headers: [...headers.filter(([name]) => !isOurs(name)), ...revision, ...own],
      body,
    };
  });
