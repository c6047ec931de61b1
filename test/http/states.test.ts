import assert from "node:assert/strict";
import { test } from "node:test";
import { openHttpServer } from "../support/http-server.ts";

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

test("the log names a request by the path it was answered on, also where its method was wrong or a route serves many paths", async (t) => {
  const { get, log } = await openHttpServer(t);
  const asked = [
    ["GET", "/docs?a=gpr_secret"],
    ["GET", "/errors/not-acceptable.md"],
    ["POST", "/docs"],
    ["PUT", "/v1/fetch-gp"],
    ["PUT", "/changes/a..b"],
    ["GET", `/changes/${"a".repeat(200)}/b`],
    ["GET", `/${"a".repeat(200)}`],
  ] as const;
  for (const [method, path] of asked) await get(path, {}, method);
  assert.deepEqual(
    log.map((line) => JSON.parse(line)).map(({ path, status }) => [path, status]),
    [
      ["/docs", 200],
      ["/errors/not-acceptable.md", 200],
      ["/docs", 405],
      ["/v1/fetch-gp", 405],
      ["/changes/*", 405],
      ["/changes/*", 404],
      ["unknown", 404],
    ],
  );
});

test("a request is one log line of known fields, and no line holds a key, a query or a header", async (t) => {
  const { get, log } = await openHttpServer(t);
  await get("/fetch-gp?gp_name=northwind");
  await get("/nowhere?api_key=gpr_secret");
  const lines = log.map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.map((line) => Object.keys(line)),
    [
      ["level", "time", "request_id", "method", "path", "status", "ms", "bytes", "key", "msg"],
      ["level", "time", "request_id", "method", "path", "status", "ms", "bytes", "problem", "msg"],
    ],
  );
  assert.deepEqual([lines[0].path, lines[0].status, lines[0].key], ["/fetch-gp", 200, "key_1"]);
  assert.deepEqual([lines[1].path, lines[1].problem], ["unknown", "unknown-path"]);
  assert.doesNotMatch(log.join(""), /northwind|gpr_|undici|user-agent/);
});
