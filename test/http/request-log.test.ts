import assert from "node:assert/strict";
import { test } from "node:test";
import pino from "pino";
import { openRequestLog } from "#http/log-requests.ts";

const line = {
  requestId: "req_01JD4Z6T0V8M3Q5N7R9S1W2X4Y",
  method: "GET",
  path: "/fetch-gp",
  status: 200,
  milliseconds: 0.12345,
  bodyBytes: 1234,
  keyId: "key_1",
  problemCode: null,
};

function logAt(level: string) {
  const lines: string[] = [];
  const log = pino({ level, base: null }, { write: (text) => void lines.push(text) });
  return { log, lines };
}

test("the line of a request is one line of JSON, with the members that any other line has", () => {
  const { log, lines } = logAt("info");
  log.info("other");
  openRequestLog(log)(line);
  const [other, request] = lines.map((text) => JSON.parse(text) as Record<string, unknown>);
  assert.deepEqual(Object.keys(other!), ["level", "time", "msg"]);
  const { time, ...rest } = request!;
  assert.ok(!Number.isNaN(Date.parse(time as string)));
  assert.deepEqual(rest, {
    level: other!["level"],
    request_id: "req_01JD4Z6T0V8M3Q5N7R9S1W2X4Y",
    method: "GET",
    path: "/fetch-gp",
    status: 200,
    ms: 0.12,
    bytes: 1234,
    key: "key_1",
    msg: "request",
  });
  assert.equal(lines[1]!.indexOf("\n"), lines[1]!.length - 1);
});

test("above the level of requests none is written", () => {
  const { log, lines } = logAt("warn");
  openRequestLog(log)(line);
  assert.deepEqual(lines, []);
});
