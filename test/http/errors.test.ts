import assert from "node:assert/strict";
import { test } from "node:test";
import { headerPairs } from "#http/common-headers.ts";
import { problemAnswer } from "#http/send-answer.ts";
import { exampleProblem } from "#pages/errors.ts";
import { type ProblemCode, problemCodes, problemKinds } from "#problems.ts";
import { commandDone } from "../support/command-line.ts";
import { sendRaw } from "../support/raw-request.ts";
import { startService, type TestService } from "../support/service.ts";

const get = (path: string, headers = "") =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\n`;

/** One way to provoke each error of a running service; the others are tested where they are raised. */
const ways: Partial<Record<ProblemCode, (service: TestService) => string>> = {
  "invalid-parameters": ({ key }) => get("/fetch-gp", `x-api-key: ${key}\r\n`),
  "malformed-request": () => "GARBAGE\r\n\r\n",
  "api-key-missing": () => get("/fetch-gp"),
  "api-key-invalid": () => get("/fetch-gp", "x-api-key: no\r\n"),
  "unknown-path": () => get("/nowhere"),
  "method-not-allowed": () => get("/fetch-gp").replace("GET", "DELETE"),
  "not-acceptable": ({ key }) => get("/fetch-gp", `x-api-key: ${key}\r\nAccept: image/png\r\n`),
  "content-too-large": () => get("/fetch-gp", "Content-Length: 70000\r\n"),
  "uri-too-long": () => get(`/fetch-gp?${"x".repeat(8200)}`),
  "unsupported-media-type": () =>
    get("/account", "Accept: application/json\r\nContent-Type: x\r\n").replace("GET", "POST"),
  "expectation-failed": () => get("/fetch-gp", "Expect: tea\r\n"),
  "headers-too-large": () => get("/fetch-gp", `x: ${"x".repeat(17000)}\r\n`),
};

test("every error is a problem of RFC 9457 with its status, title, code and request id", async (t) => {
  const service = await startService(t);
  for (const [code, way] of Object.entries(ways) as [
    ProblemCode,
    (service: TestService) => string,
  ][]) {
    const { status, headers, body } = await sendRaw(service.port, way(service));
    const problem = JSON.parse(body);
    assert.equal(status, problemKinds[code].status, code);
    assert.equal(headers["content-type"], "application/problem+json; charset=utf-8", code);
    assert.equal(headers["cache-control"], "no-store");
    assert.equal(headers["x-content-type-options"], "nosniff");
    assert.equal(headers["api-version"], "1.3");
    assert.equal(headers["vary"], "Accept, Accept-Encoding");
    const isPrivate = code === "unsupported-media-type";
    assert.equal(headers["access-control-allow-origin"], isPrivate ? undefined : "*");
    assert.deepEqual(Object.keys(problem).slice(0, 6), [
      "type",
      "title",
      "status",
      "detail",
      "code",
      "request_id",
    ]);
    assert.deepEqual(
      [problem.type, problem.title, problem.status, problem.code, problem.request_id],
      [`/errors/${code}`, problemKinds[code].title, status, code, headers["x-request-id"]],
    );
  }
});

test("the extension members of each error are those of its row", async (t) => {
  const service = await startService(t);
  const members = {
    "invalid-parameters": ["errors"],
    "malformed-request": [],
    "api-key-missing": ["header", "account_url"],
    "api-key-invalid": ["reason"],
    "unknown-path": ["suggestion", "operations"],
    "method-not-allowed": ["allowed"],
    "not-acceptable": ["available"],
    "content-too-large": ["maximum"],
    "uri-too-long": ["maximum"],
    "unsupported-media-type": ["available"],
    "expectation-failed": [],
    "headers-too-large": ["maximum"],
  };
  for (const [code, names] of Object.entries(members)) {
    const { body } = await sendRaw(service.port, ways[code as ProblemCode]!(service));
    assert.deepEqual(Object.keys(JSON.parse(body)).slice(6), names, code);
  }
});

test("the page an error's type leads to is served by the same host", async (t) => {
  const service = await startService(t);
  for (const code of problemCodes)
    assert.equal((await service.get(`/errors/${code}`, { "x-api-key": "" })).status, 200, code);
  assert.equal((await service.get("/errors/no-such-code")).status, 404);
});

test("an error of the 429 has the registered type, all others a page of ours", () => {
  for (const code of problemCodes) {
    const { body } = problemAnswer(exampleProblem(code), "req_x");
    const { type } = JSON.parse(body.toString());
    assert.equal(
      type,
      code === "quota-exceeded"
        ? "https://iana.org/assignments/http-problem-types#quota-exceeded"
        : `/errors/${code}`,
    );
  }
});

test("Retry-After says on 429 and 503 what retry_after says, Allow on 405 what allowed says, and neither stands elsewhere", () => {
  for (const code of problemCodes) {
    const problem = exampleProblem(code);
    const { status, headers } = problemAnswer(problem, "x");
    const named = new Map(headerPairs(headers));
    assert.equal(named.has("retry-after"), status === 429 || status === 503, code);
    if (named.has("retry-after"))
      assert.equal(named.get("retry-after"), String(problem.members.retry_after));
    assert.equal(named.has("allow"), status === 405, code);
    if (status === 405) assert.equal(named.get("allow"), "GET, HEAD, OPTIONS");
  }
});

test("an expired and a revoked key say since when, and show no more of the key than its beginning", async (t) => {
  const service = await startService(t);
  const expiresAt = service.clock.now() + 1000;
  const { key } = await service.newKey({ expiresAt });
  service.clock.advance(2);
  const { status, body, text } = await service.get("/fetch-gp?gp_name=kkr", { "x-api-key": key });
  assert.equal(status, 401);
  assert.deepEqual(
    [body.code, body.key_hint, body.expired_at, body.account_url],
    ["api-key-expired", key.slice(0, 8), new Date(expiresAt).toISOString(), "/account"],
  );
  assert.equal(text.includes(key.slice(8)), false);
});

test("a suspended account is a 403 that counts nothing, from the next request on, until it is resumed", async (t) => {
  const service = await startService(t);
  const { key, account } = await service.newKey();
  const ask = () => service.get("/fetch-gp?gp_name=kkr", { "x-api-key": key });
  assert.equal((await ask()).status, 200);
  await commandDone(service.dataDir, "accounts", "suspend", account);
  const { status, body, headers } = await ask();
  assert.equal(status, 403);
  assert.deepEqual([body.code, body.reason], ["access-denied", "account_suspended"]);
  assert.equal(headers.get("ratelimit"), null);
  await commandDone(service.dataDir, "accounts", "resume", account);
  assert.match((await ask()).headers.get("ratelimit")!, /^"minute";r=58;/);
});

test("no error tells a stack trace, a path, SQL or a version of software", async (t) => {
  const service = await startService(t);
  for (const way of Object.values(ways)) {
    const { text } = await sendRaw(service.port, way(service));
    assert.doesNotMatch(
      text,
      /\bat .*:\d+:\d+|node_modules|\/src\/|select |sqlite|fastify|node\//i,
    );
  }
});

test("a missing dataset is a 503 with its reason, after the key and the parameters were checked", async (t) => {
  const service = await startService(t, { records: null });
  const { status, body, headers } = await service.get("/fetch-gp?gp_name=kkr");
  assert.equal(status, 503);
  assert.deepEqual([body.code, body.reason, body.retry_after], ["unavailable", "no_dataset", 5]);
  assert.equal(headers.get("retry-after"), "5");
  assert.match(headers.get("ratelimit")!, /^"minute";r=59;/);
});

test("an unknown path names the nearest known one, and all operations", async (t) => {
  const service = await startService(t);
  for (const [path, suggestion] of [
    ["/fetch-gps", "/fetch-gp"],
    ["/Fetch-GP", "/fetch-gp"],
    ["/fetch-gp/", "/fetch-gp"],
    ["/v9/fetch-gp", "/v1/fetch-gp"],
    ["/wp-admin", null],
  ]) {
    const { status, body } = await service.get(path!);
    assert.equal(status, 404, path!);
    assert.equal(body.suggestion, suggestion, path!);
    assert.deepEqual(body.operations, [
      "/fetch-gp",
      "/fetch-principals",
      "/fetch-signals",
      "/fetch-projects",
    ]);
  }
});
