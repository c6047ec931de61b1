import assert from "node:assert/strict";
import { test } from "node:test";
import { formats } from "#operations/formats.ts";
import type { FuzzRequest } from "../../fuzz/requests/request.ts";
import { judgeAnswer, type Court } from "../../fuzz/requests/judge.ts";
import { readAnswers, type Answer } from "../../fuzz/requests/read-answers.ts";
import { sendRaw } from "../support/raw-request.ts";
import { startService } from "../support/service.ts";

const secret = "gpr_R7mQ2xVb9TzK4pWn8LsJ3hYd6FgC1a2kDPFA";
const court: Court = {
  world: { formats: formats.map(({ mediaType }) => mediaType), documents: new Map() },
  secrets: { of: () => secret, all: [secret] },
  comparePage: () => null,
};
const page: FuzzRequest = {
  method: "GET",
  target: "/fetch-signals?limit=2&offset=1",
  version: "HTTP/1.1",
  headers: [
    ["host", " x"],
    ["x-api-key", " {{valid-a}}"],
  ],
  body: "",
};
const refused: FuzzRequest = { ...page, target: "/fetch-signals?limit=0&gp_nme=x" };

const mistyped: FuzzRequest = {
  ...page,
  target: "/dosc",
  headers: [...page.headers, ["accept", " text/html"]],
};

/** The answer as it came, written out again with one text replaced; the length is right again unless it is the text. */
function tampered(answer: Answer, from: string | RegExp, to: string): Answer {
  const body = answer.body.toString("latin1");
  const newBody = body.replace(from, to);
  const headers = [...answer.headers]
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("")
    .replace(from, to)
    .replace(/^(content-length): .*$/m, `$1: ${newBody.length}`);
  const line = `HTTP/1.1 ${answer.status} OK`.replace(from, to);
  const bytes = Buffer.from(`${line}\r\n${headers}\r\n${newBody}`, "latin1");
  return readAnswers(() => "GET").push(bytes)[0]!;
}

const rulesBroken = (answer: Answer, request: FuzzRequest) =>
  judgeAnswer(court, answer, request, null, Buffer.from(request.target)).map(({ rule }) => rule);

const faultsOfPages: [from: string | RegExp, to: string, rule: RegExp][] = [
  ["HTTP/1.1 200", "HTTP/1.1 500", /status not promised/],
  ["HTTP/1.1 200", "HTTP/1.1 304", /not as predicted/],
  ["HTTP/1.1 200", "HTTP/1.0 200", /not HTTP/],
  ["api-version: 1.3\r\n", "", /api-version is missing/],
  ["vary: Accept, ", "vary: ", /header vary/],
  ["nosniff", "sniff", /x-content-type-options/],
  ["x-request-id: req_", "x-request-id: req-", /request id/],
  ["private, no-cache", "public", /cache-control/],
  ["x-total-count: ", "x-total-count: 1", /page: total count/],
  ["content-type: application/json", "content-type: text/plain", /content type of a page/],
  ["content-type: ", "server: x\r\ncontent-type: ", /server must not be sent/],
  ["content-type: ", "vary: Accept\r\ncontent-type: ", /not HTTP/],
  ['"returned":2', '"returned":3', /page: returned/],
  ['"limit":2', '"limit":20', /page: limit/],
  ['"offset":1', '"offset":0', /page: offset/],
  ['"has_more":true', '"has_more":false', /page: has_more/],
  ['"next_offset":3', '"next_offset":2', /page: next_offset/],
  ['rel="prev"', 'rel="next"', /page: relations/],
  ['{"id":"sg_', '{"id":"gp_', /page: ids/],
  ['{"data":[', '{"data":[,', /no application\/json/],
  ['"hints":[]', `"hints":["${secret}"]`, /a key came back/],
  ['"hints":[]', '"hints":["\xff"]', /content cannot be read/],
];

const lines: FuzzRequest = {
  ...page,
  headers: [...page.headers, ["accept", " application/x-ndjson"]],
};
const faultsOfLines: typeof faultsOfPages = [
  ["x-total-count: ", "x-total-count: -", /page: total/],
  ["application/x-ndjson", "application/json", /no application\/json/],
  ["}\n{", "},{", /no application\/x-ndjson/],
  [/\}\n$/, "}", /no application\/x-ndjson/],
  [/\{"id".*\n$/, "", /page: number of records/],
  [/"id":"sg_/g, '"id":"gp_', /page: ids/],
];

const table: FuzzRequest = { ...page, headers: [...page.headers, ["accept", " text/csv"]] };
const faultsOfTables: typeof faultsOfPages = [
  [/\r\nsg_.*\r\n$/, "\r\n", /page: number of records/],
  ["id,type", "key,type", /no text\/csv/],
  ["id,type", "id,type,type", /no text\/csv/],
  [/(Z,[^:]*)\r\n$/, "$1", /no text\/csv/],
  [/\r\nsg_\w+,[a-z_]+,/, "$&=", /no text\/csv/],
  [/\r\nsg_/g, "\r\npj_", /page: ids/],
];

const faultsOfProblems: typeof faultsOfPages = [
  ["HTTP/1.1 400", "HTTP/1.1 200", /not as predicted/],
  ['"status":400', '"status":404', /: status/],
  ['"code":"invalid-parameters"', '"code":"bad"', /code not promised/],
  ['"type":"/errors/', '"type":"/error/', /: type/],
  ['"title":"One', '"title":"Some', /: title/],
  ['"request_id":"req_', '"request_id":"res_', /: request_id/],
  ['"code":"out_of_range"', '"code":"wrong"', /: errors/],
  ['"code":"out_of_range"', '"code":"too_long"', /not as predicted/],
  ['"errors":', '"faults":', /: errors/],
  ['"detail":"2 problems', '"detail":"TypeError: x', /the inside shows/],
  ['"detail":"2 problems', '"detail":"/opt/src/a 2 problems', /the inside shows/],
  ["no-store", "no-cache", /may be cached/],
  ["problem+json", "json", /content type of an error/],
];

const faultsOfErrorPages: typeof faultsOfPages = [
  ["HTTP/1.1 404", "HTTP/1.1 403", /not as predicted/],
  ["no-store", "no-cache", /may be cached/],
  ["script-src 'self'", "script-src *", /page of an error: policy/],
  ["<!doctype html>", "", /page of an error: doctype/],
  ["<h1>", "<h2>", /page of an error: heading/],
  ['<script src="/assets/', '<script src="//evil.example/', /page of an error: script/],
  ["text/html", "text/plain", /content type of an error/],
  ["access-control-allow-origin: *\r\n", "", /access-control-allow-origin is missing/],
];

const messageOf = (call: string): FuzzRequest => {
  const body = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":${call}}`;
  const framing = [
    ["content-type", " application/json"],
    ["content-length", ` ${body.length}`],
  ] as const;
  return {
    ...page,
    method: "POST",
    target: "/mcp",
    headers: [page.headers[0]!, ["authorization", " Bearer {{valid-a}}"], ...framing],
    body,
  };
};

const called = messageOf('{"name":"list_gps","arguments":{"limit":2}}');
const faultsOfResults: typeof faultsOfPages = [
  ["HTTP/1.1 200", "HTTP/1.1 500", /status not promised/],
  ['"id":7', '"id":8', /message: another id/],
  ['"jsonrpc":"2.0"', '"jsonrpc":"1.0"', /message: no JSON-RPC/],
  [/"id":7\}$/, '"id":7', /message: no JSON/],
  ['"structuredContent":', '"structured":', /message: form of a result/],
  ['\\"returned\\":2', '\\"returned\\":3', /message: form of a result/],
  [/\{"result":.*\}$/, '{"jsonrpc":"2.0","id":7,"result":{"isError":true}}', /form of an error of/],
  [
    /\{"result":.*\}$/,
    '{"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"x"}}',
    /message: a call was not answered/,
  ],
  ["no-store", secret, /a key came back/],
];

const miscalled = messageOf('{"name":"fetch_gp","arguments":{"limit":"5","limts":1}}');
const faultsOfFailures: typeof faultsOfPages = [
  ["'limts'", "'limit'", /message: an argument is not named/],
  ['\\"parameter\\":\\"limit\\"', '\\"parameter\\":\\"limts\\"', /message: other arguments/],
  [',{\\"parameter\\":\\"gp_name\\"', ',{\\"of\\":\\"gp_name\\"', /an argument is not named/],
  ['\\"code\\":\\"invalid-parameters\\"', '\\"code\\":\\"bad\\"', /message: code not promised/],
  ["3 problems", "TypeError: x", /message: the inside shows/],
  [
    /\{"result":.*\}$/,
    '{"jsonrpc":"2.0","id":7,"result":{"content":[]}}',
    /message: a wrong argument was accepted/,
  ],
];

test("the judge of the fuzz finds nothing wrong with what is right, and each of many faults", async (t) => {
  const service = await startService(t);
  const answerTo = async ({ method, target, headers, body }: FuzzRequest) => {
    const lines = headers.map(([name, value]) => `${name}:${value}\r\n`).join("");
    const { text } = await sendRaw(
      service.port,
      `${method} ${target} HTTP/1.1\r\n${lines.replace("{{valid-a}}", service.key)}\r\n${body}`,
    );
    return readAnswers(() => "GET").push(Buffer.from(text, "latin1"))[0]!;
  };
  for (const [request, faults] of [
    [page, faultsOfPages],
    [lines, faultsOfLines],
    [table, faultsOfTables],
    [refused, faultsOfProblems],
    [mistyped, faultsOfErrorPages],
    [called, faultsOfResults],
    [miscalled, faultsOfFailures],
  ] as const) {
    const right = await answerTo(request);
    assert.deepEqual(rulesBroken(right, request), []);
    for (const [from, to, rule] of faults) {
      const wrong = tampered(right, from, to);
      assert.match(rulesBroken(wrong, request).join("\n"), rule, `${String(from)} → ${to}`);
    }
  }
});
