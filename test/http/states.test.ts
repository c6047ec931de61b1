import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import pino from "pino";
import { openAccessLog } from "#http/record-requests.ts";
import type { Exchange } from "#http/routes.ts";
import { allCommands } from "../support/all-commands.ts";
import { commandDone } from "../support/command-line.ts";
import { openHttpServer } from "../support/http-server.ts";
import { requestText } from "../support/raw-client.ts";
import { startService } from "../support/service.ts";
import { lockUsage } from "../support/usage.ts";

test("while it starts or drains the service answers 503 before it looks at path or key, and counts nothing", async (t) => {
  for (const state of ["starting", "draining"] as const) {
    const { get } = await openHttpServer(t, { life: { state } });
    for (const path of ["/fetch-gp?gp_name=kkr", "/nowhere", "/openapi.json"]) {
      const { status, headers, body } = await get(path);
      assert.equal(status, 503, path);
      assert.deepEqual([body.code, body.reason, body.retry_after], ["unavailable", state, 1]);
      assert.equal(headers.get("retry-after"), "1");
      assert.equal(headers.get("ratelimit"), null);
      assert.equal(headers.get("connection"), state === "draining" ? "close" : "keep-alive");
    }
    assert.equal((await get("/health")).status, 200);
    assert.equal((await get("/ready")).body.reason, state);
  }
});

test("while it closes the service answers what still comes, and says that the connection ends", async (t) => {
  const { get } = await openHttpServer(t, { life: { state: "closing" } });
  for (const [path, expected] of [
    ["/fetch-gp?gp_name=kkr", 200],
    ["/nowhere", 404],
    ["/health", 200],
    ["/ready", 503],
  ] as const) {
    const { status, headers } = await get(path);
    assert.equal(status, expected, path);
    assert.equal(headers.get("connection"), "close", path);
  }
  assert.equal((await get("/ready")).body.reason, "draining");
});

test("a stopping service still starts the thread that explains records", async (t) => {
  const { key, port, stop } = await startService(t);
  const socket = connect(port, "127.0.0.1");
  socket.write(requestText("/health"));
  await once(socket, "data");
  const stopped = stop();
  socket.write(requestText("/explain/gp_0000000000000000", { key }));
  const [answer] = await once(socket, "data");
  assert.match(String(answer), /^HTTP\/1.1 404 /);
  await stopped;
});

test("a service that stops gives back its folder, even if a part of it cannot be closed", async (t) => {
  const service = await startService(t);
  const { dataDir, log } = service;
  const unlock = await lockUsage(dataDir);
  await service.get("/fetch-gp?gp_name=northwind");
  // What it says of its losses, the last thing that recording does.
  log.push = (...lines) => {
    if (/usage records/.test(lines.join())) throw new Error("the log is full");
    return lines.length;
  };
  await assert.rejects(service.stop(), /the log is full/);
  unlock();
  await startService(t, { dataDir, records: null });
});

test("the log names a request by the path it was answered on, also where its method was wrong or a route serves many paths", async (t) => {
  const { get, log } = await openHttpServer(t);
  const asked = [
    ["GET", "/docs?a=gpr_secret", "/docs 200"],
    ["GET", "/v1/vocabulary", "/v1/vocabulary 200"],
    ["GET", "/errors/not-acceptable", "/errors/not-acceptable 200"],
    ["POST", "/docs", "/docs 405"],
    ["PUT", "/v1/fetch-gp", "/v1/fetch-gp 405"],
    ["PUT", "/changes/a..b", "/changes/* 405"],
    ["GET", `/changes/${"a".repeat(200)}/b`, "/changes/* 404"],
    ["GET", `/${"a".repeat(200)}`, "unknown 404"],
  ] as const;
  for (const [method, path] of asked) await get(path, {}, method);
  const lines = log.map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.map(({ path, status }) => `${path} ${status}`),
    asked.map(([, , logged]) => logged),
  );
  const known = ["level", "time", "request_id", "method", "path", "status", "ms", "bytes"];
  assert.deepEqual(Object.keys(lines[0]), [...known, "msg"]);
  assert.deepEqual(Object.keys(lines.at(-1)), [...known, "problem", "msg"]);
  assert.doesNotMatch(log.join(""), /gpr_|undici|user-agent/);
});

const exchange = {
  id: "req_01JD4Z6T0V8M3Q5N7R9S1W2X4Y",
  request: { method: "GET" },
  route: { path: "/fetch-gp" },
  asker: { id: "key_1" },
  problemCode: null,
} as Exchange;

test("the line of a request is one line of JSON, with the members that any other line has, and none above its level", () => {
  const lines: string[] = [];
  const log = pino({ base: null }, { write: (text) => void lines.push(text) });
  log.info("other");
  openAccessLog(log)(exchange, 200, 1234, 0.12345);
  log.level = "warn";
  openAccessLog(log)(exchange, 200, 1234, 0.12345);
  const [other, logged, ...more] = lines.map((text) => JSON.parse(text) as Record<string, unknown>);
  assert.deepEqual([Object.keys(other!), more], [["level", "time", "msg"], []]);
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
  write(exchange, 200, 1234, 0.12345);
  write({ ...exchange, id: "second" }, 200, 1234, 0.12345);
  const ids = gathered.map((line) => (JSON.parse(line) as { request_id: string }).request_id);
  assert.deepEqual(ids, [exchange.id, "second"]);
});

test("a suspended account is a 403 that counts nothing, from the next request on, until it is resumed", async (t) => {
  const { clock, dataDir, get, newKey } = await startService(t);
  const { key, account } = await newKey();
  const { json } = allCommands(dataDir, {}, clock.now);
  const made = await json(`keys create --account ${account} --name brief --expires 1m`);
  const ask = (presented = key) => get("/fetch-gp?gp_name=kkr", { "x-api-key": presented });
  assert.equal((await ask()).status, 200);
  await commandDone(dataDir, "accounts", "suspend", account);
  const { status, body, headers } = await ask();
  assert.equal(status, 403);
  assert.deepEqual([body.code, body.reason], ["access-denied", "account_suspended"]);
  assert.equal(headers.get("ratelimit"), null);
  clock.advance(60);
  assert.equal((await ask(made.key)).body.code, "api-key-expired");
  await commandDone(dataDir, "accounts", "resume", account);
  assert.match((await ask()).headers.get("ratelimit")!, /"hour";r=998;/);
});
