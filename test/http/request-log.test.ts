import assert from "node:assert/strict";
import { test } from "node:test";
import pino from "pino";
import { type FinishedRequest, openAccessLog } from "#http/record-requests.ts";

const request: FinishedRequest = {
  requestId: "req_01JD4Z6T0V8M3Q5N7R9S1W2X4Y",
  operation: "fetch-gp",
  method: "GET",
  path: "/fetch-gp",
  target: "/fetch-gp?gp_name=northwind",
  status: 200,
  milliseconds: 0.12345,
  bytes: 1234,
  asker: { id: "key_1", accountNumber: 1, quotas: { minute: null, hour: null, day: null } },
  dataset: null,
  problem: null,
};

function logAt(level: string) {
  const lines: string[] = [];
  const log = pino({ level, base: null }, { write: (text) => void lines.push(text) });
  return { log, lines };
}

test("the line of a request is one line of JSON, with the members that any other line has", () => {
  const { log, lines } = logAt("info");
  log.info("other");
  openAccessLog(log)(request);
  const [other, logged] = lines.map((text) => JSON.parse(text) as Record<string, unknown>);
  assert.deepEqual(Object.keys(other!), ["level", "time", "msg"]);
  const { time, ...rest } = logged!;
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

test("lines of requests are gathered where the log can do so", () => {
  const gathered: string[] = [];
  const stream = { write: assert.fail, gather: (line: string) => void gathered.push(line) };
  const log = pino({ base: null }, stream);
  const write = openAccessLog(log);
  write(request);
  write({ ...request, requestId: "second" });
  const ids = gathered.map((line) => (JSON.parse(line) as { request_id: string }).request_id);
  assert.deepEqual(ids, [request.requestId, "second"]);
});

test("above the level of requests none is written", () => {
  const { log, lines } = logAt("warn");
  openAccessLog(log)(request);
  assert.deepEqual(lines, []);
});
