import assert from "node:assert/strict";
import { registerHooks } from "node:module";
import { test } from "node:test";
import { listed } from "../support/awkward/words.ts";
import { callTool, envelope, modern, modernRevision, post } from "../support/mcp.ts";
import { startService } from "../support/service.ts";

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  },
};

const toolCall = (name: string, args: object, id = 1) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: args },
});

test("each call of a tool counts 1, whatever its answer; over the quota it is an error that says when to try again", async (t) => {
  const service = await startService(t);
  const { key } = await service.newKey({ quotas: { minute: 4 } });
  const own = { url: service.url, key };
  const left = async () =>
    /r=(\d+)/.exec((await modern(own, "tools/list")).headers.get("ratelimit")!)![1];
  assert.equal(await left(), "4");
  await callTool(own, "fetch_gp", { gp_name: "kkr" });
  assert.equal(await left(), "3");
  await callTool(own, "list_gps", { limit: 0 });
  await modern(own, "tools/call", { name: "no_such_tool" });
  assert.equal(await left(), "1");
  assert.equal((await service.get("/fetch-signals", { "x-api-key": key })).status, 200);
  service.clock.advance(20);
  for (const [name, args] of [
    ["fetch_gp", { gp_name: "kkr" }],
    ["list_signals", {}],
    ["vocabulary", { list: "tags" }],
    ["list_gps", { wrong: 1 }],
  ] as const) {
    const { status, headers, body } = await modern(own, "tools/call", { name, arguments: args });
    assert.equal(status, 200);
    assert.equal(body.result.isError, true);
    const problem = JSON.parse(body.result.content[0].text);
    assert.deepEqual(
      [problem.code, problem.retry_after, problem["violated-policies"]],
      ["quota-exceeded", 40, ["minute"]],
    );
    assert.match(headers.get("ratelimit")!, /^"minute";r=0;t=40,/);
  }
  service.clock.advance(40);
  assert.equal((await callTool(own, "fetch_gp", { gp_name: "kkr" })).isError, undefined);
});

test("other messages do not count, and are bound to 120 a minute an account, faulty calls included", async (t) => {
  const service = await startService(t);
  for (let i = 0; i < 118; i++) assert.equal((await post(service, initialize)).status, 200);
  const list = toolCall("list_gps", []);
  assert.equal((await post(service, list)).body.error.code, -32_602);
  assert.equal((await post(service, "[]")).status, 400);
  for (const message of [initialize, "[]", list]) {
    const { status, headers, body } = await post(service, message);
    assert.equal(status, 429);
    assert.deepEqual([body["violated-policies"], body.retry_after], [["mcp-messages"], 60]);
    assert.equal(headers.get("retry-after"), "60");
  }
  assert.equal((await callTool(service, "list_gps")).isError, undefined);
  assert.match((await service.get("/fetch-signals")).headers.get("ratelimit")!, /^"minute";r=58;/);
  const { key } = await service.newKey();
  assert.equal((await post({ url: service.url, key }, initialize)).status, 200);
  service.clock.advance(60);
  assert.equal((await post(service, initialize)).status, 200);
});

const listOf = (revision: string) => ({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/list",
  params: { _meta: { ...envelope, "io.modelcontextprotocol/protocolVersion": revision } },
});

test("an error repeats no more of a message than tells which one it was", async (t) => {
  const service = await startService(t);
  const { status, text } = await post(service, listOf("z".repeat(60_000)), {
    "mcp-protocol-version": modernRevision,
    "mcp-method": "tools/list",
  });
  assert.equal(status, 400);
  assert.ok(text.length < 3000, `${text.length} characters`);
});

test("the key comes in x-api-key or as Bearer, and stands in no answer and no line of the log", async (t) => {
  const service = await startService(t);
  const none = { "x-api-key": "" };
  const bearer = { ...none, authorization: `Bearer ${service.key}` };
  assert.equal((await modern(service, "tools/list", {}, bearer)).status, 200);
  const answers = [
    await post(service, listOf(service.key), {
      ...bearer,
      "mcp-protocol-version": service.key,
      "mcp-method": "tools/list",
    }),
    await post(service, { ...initialize, id: service.key }, bearer),
    await modern(service, "resources/read", { uri: service.key }, bearer),
    await modern(service, service.key, {}, bearer),
  ];
  for (const [params, headers] of [
    [{ name: "list_gps" }, {}],
    [{ name: service.key }, {}],
    [{ name: "fetch_gp", arguments: { [service.key]: 1 } }, {}],
    [{ name: "fetch_gp", arguments: { gp_name: service.key } }, {}],
    [{ name: "list_gps", arguments: { market: [service.key] } }, {}],
    [{ name: "list_gps", arguments: { detail: service.key } }, {}],
    [{ name: "list_gps" }, { "mcp-protocol-version": service.key }],
    [{ name: "list_gps" }, { "mcp-method": service.key }],
    [{ name: "list_gps" }, { "mcp-name": service.key }],
  ] as const)
    answers.push(await modern(service, "tools/call", params, { ...bearer, ...headers }));
  for (const { status, text } of answers) {
    assert.ok(status < 500, text);
    assert.ok(!text.includes(service.key.slice(0, 20)), text);
  }
  assert.ok(!service.log.join("").includes(service.key.slice(0, 20)));
  const last = service.key.endsWith("x") ? "y" : "x";
  for (const [headers, code] of [
    [none, "api-key-missing"],
    [{ ...none, authorization: `Basic ${service.key}` }, "api-key-missing"],
    [{ ...none, authorization: `Bearer ${service.key.slice(0, -1)}${last}` }, "api-key-invalid"],
    [{ ...none, authorization: "Bearer x y" }, "api-key-missing"],
  ] as const)
    for (const answer of [
      await modern(service, "tools/list", {}, headers),
      await modern(service, "tools/call", { name: "list_gps" }, headers),
    ]) {
      assert.equal(answer.status, 401);
      assert.equal(answer.body.code, code);
      assert.equal(answer.headers.get("ratelimit"), null);
      assert.doesNotMatch(answer.body.detail, /keys are not read/, "Bearer is read here");
    }
  const { status } = await service.get("/fetch-signals", {
    "x-api-key": "",
    authorization: bearer.authorization,
  });
  assert.equal(status, 401, "Bearer is for /mcp alone");
});

test("pages of other origins are refused; the service's own and listed ones are not", async (t) => {
  const listed = "https://app.example";
  const service = await startService(t, { settings: { CORS_ORIGINS: listed } });
  const asked = async (origin: string, headers = {}) =>
    (await modern(service, "tools/list", {}, { origin, ...headers })).status;
  assert.equal(await asked(service.url), 200);
  assert.equal(await asked(listed), 200);
  for (const origin of ["https://evil.example", "null", "http://127.0.0.1:1", `${listed}.evil`])
    assert.equal(await asked(origin), 403, origin);
  const { body } = await modern(service, "tools/list", {}, { origin: "https://evil.example" });
  assert.deepEqual([body.code, body.reason], ["access-denied", "origin"]);
  const open = await startService(t, {
    settings: { PUBLIC_URL: "https://records.example", CORS_ORIGINS: "*" },
  });
  for (const [origin, status] of [
    ["https://records.example", 200],
    ["https://evil.example", 403],
    [open.url, 403],
  ] as const)
    assert.equal((await modern(open, "tools/list", {}, { origin })).status, status, origin);
});

test("a preflight allows what an MCP client in a browser sends", async (t) => {
  const { url } = await startService(t);
  const { status, headers } = await fetch(`${url}/mcp`, { method: "OPTIONS" });
  assert.equal(status, 204);
  assert.equal(headers.get("allow"), "POST, OPTIONS");
  assert.match(headers.get("access-control-allow-methods")!, /\bPOST\b/);
  const allowed = headers.get("access-control-allow-headers")!.split(", ");
  for (const name of listed(`
    x-api-key authorization content-type mcp-protocol-version mcp-method mcp-name
  `))
    assert.ok(allowed.includes(name), name);
});

test("what is no message of JSON-RPC, or no method but POST, gets the error that says so", async (t) => {
  const service = await startService(t);
  const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
  for (const [body, status, code] of [
    ["", 400, "malformed-request"],
    ["{", 400, "malformed-request"],
    [[initialize], 400, "malformed-request"],
    ["[]", 400, "malformed-request"],
    [nested(33), 400, "malformed-request"],
    ["[".repeat(30_000), 400, "malformed-request"],
    [nested(10_000), 400, "malformed-request"],
    [{ ...initialize, id: "x".repeat(200) }, 400, "malformed-request"],
    [
      { jsonrpc: "2.0", id: 1, method: "ping", params: { x: "x".repeat(70_000) } },
      413,
      "content-too-large",
    ],
  ] as const) {
    const answer = await post(service, body);
    assert.deepEqual(
      [answer.status, answer.body.code],
      [status, code],
      JSON.stringify(body).slice(0, 80),
    );
    assert.match(answer.headers.get("content-type")!, /^application\/problem\+json/);
  }
  for (const type of ["text/plain", "", "application/x-www-form-urlencoded", "nonsense"]) {
    const { status, body } = await post(service, initialize, { "content-type": type });
    assert.deepEqual([status, body.available], [415, ["application/json"]], type);
  }
  const withCharset = { "content-type": "application/json; charset=utf-8" };
  assert.equal((await post(service, initialize, withCharset)).status, 200);
  for (const type of ["gzip", "br", "x"]) {
    const { status, body } = await post(service, initialize, { "content-encoding": type });
    assert.deepEqual([status, body.available], [415, ["application/json"]], type);
  }
  for (const message of [
    "5",
    "null",
    '"x"',
    {},
    { jsonrpc: "1.0", id: 1, method: "ping" },
    { jsonrpc: "2.0", id: {}, method: "ping" },
  ]) {
    const { status, body } = await post(service, message);
    assert.deepEqual([status, body.error.code], [400, -32_600]);
  }
  for (const method of ["GET", "HEAD", "PUT", "PATCH", "DELETE"]) {
    const { status, headers } = await fetch(`${service.url}/mcp`, {
      method,
      headers: { "x-api-key": service.key },
    });
    assert.deepEqual([status, headers.get("allow")], [405, "POST, OPTIONS"], method);
  }
});

test("two different keys are refused, whichever of them is valid, and neither is shown or counted as a guess", async (t) => {
  const service = await startService(t);
  const { key: other } = await service.newKey();
  const madeUp = `gpr_${"0".repeat(36)}`;
  const list = (key: string, authorization: string) =>
    modern(service, "tools/list", {}, { "x-api-key": key, authorization });
  for (const [key, second] of [
    [service.key, other],
    [service.key, madeUp],
    [madeUp, service.key],
    ["YOUR_KEY", service.key],
  ] as const)
    for (let i = 0; i < 10; i++) {
      const { status, text, body, headers } = await list(key, `Bearer ${second}`);
      assert.deepEqual([status, body.code], [400, "malformed-request"]);
      assert.match(body.detail, /x-api-key and Authorization carry two different keys/);
      assert.doesNotMatch(text, /gpr_|YOUR_KEY/);
      assert.equal(headers.get("ratelimit"), null);
    }
  for (const authorization of [
    `Bearer ${service.key}`,
    `bearer  ${service.key} `,
    "Bearer a-token-of-a-proxy",
    "Basic dXNlcjpwYXNzd29yZA==",
  ])
    assert.equal((await list(service.key, authorization)).status, 200, authorization);
  const { status, body } = await list(madeUp, "");
  assert.deepEqual([status, body.code], [401, "api-key-invalid"]);
});

test("the id of a message comes back as it was sent, and one that could not is refused", async (t) => {
  const service = await startService(t);
  const withId = (id: string) => `{"jsonrpc":"2.0","id":${id},"method":"tools/list"}`;
  for (const id of ["0", "-7", "9007199254740991", "-9007199254740991", '"9007199254740993"']) {
    const { status, text } = await post(service, withId(id));
    assert.equal(status, 200);
    assert.ok(text.includes(`"id":${id}`), id);
  }
  for (const id of ["9007199254740992", "9007199254740993", "-9007199254740993", "1e400", "1.5"]) {
    const { status, text, body } = await post(service, withId(id));
    assert.deepEqual([status, body.code], [400, "malformed-request"], id);
    assert.match(
      body.detail,
      /^The id of the message must be a string, or a whole number from -9007199254740991 to 9007199254740991\. /,
    );
    assert.ok(!text.includes(id), id);
  }
});

test("a body that is not UTF-8 is refused, not searched for with its letters replaced; a byte order mark is ignored", async (t) => {
  const service = await startService(t);
  const call = JSON.stringify(toolCall("fetch_gp", { gp_name: "société" }));
  const bytes = Buffer.from(call);
  for (const [body, status] of [
    [Buffer.from(call, "latin1"), 400],
    [Buffer.from(call, "utf16le"), 400],
    [bytes.subarray(0, -1), 400],
    [Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]), 200],
  ] as const) {
    const answer = await post(service, body);
    assert.equal(answer.status, status);
    if (status === 400) assert.equal(answer.body.code, "malformed-request");
  }
});

test("clients of every revision are served, each message by itself, and an unknown revision is told which there are", async (t) => {
  const service = await startService(t);
  for (const protocolVersion of ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]) {
    const params = { ...initialize.params, protocolVersion };
    const { body } = await post(service, { ...initialize, params });
    assert.equal(body.result.protocolVersion, protocolVersion);
    const called = await post(service, toolCall("list_gps", { limit: 1 }, 2), {
      "mcp-protocol-version": protocolVersion,
    });
    assert.equal(called.body.result.structuredContent.pagination.returned, 1);
  }
  const told = await post(service, { jsonrpc: "2.0", method: "notifications/initialized" });
  assert.deepEqual([told.status, told.text], [202, ""]);
  const { body: discovered } = await modern(service, "server/discover");
  assert.deepEqual(discovered.result.supportedVersions, [modernRevision]);
  assert.match(discovered.result.instructions, /read-only/);

  const version = "2099-01-01";
  const newer = await post(service, listOf(version), {
    "mcp-protocol-version": version,
    "mcp-method": "tools/list",
  });
  assert.equal(newer.status, 400);
  assert.deepEqual(newer.body.error.data.supported, [modernRevision]);
  const lying = await modern(
    service,
    "tools/call",
    { name: "list_gps" },
    { "mcp-name": "fetch_gp" },
  );
  assert.deepEqual([lying.status, lying.body.error.code], [400, -32_020]);
  for (const method of ["prompts/list", "ping", "logging/setLevel", "tasks/list", "constructor"])
    assert.equal((await modern(service, method)).body.error.code, -32_601, method);
  // A stream would be held open for ever: it ends at once, as there is nothing that changes.
  const listening = await modern(service, "subscriptions/listen", {
    notifications: { toolsListChanged: true, resourceSubscriptions: ["gp-records://guide"] },
  });
  assert.equal(listening.status, 200);
});

test("without records a tool says so, and when to try again", async (t) => {
  const service = await startService(t, { records: null });
  const { isError, content } = await callTool(service, "list_gps");
  assert.equal(isError, true);
  const { code, reason, retry_after } = JSON.parse(content[0]!.text);
  assert.deepEqual([code, reason, retry_after], ["unavailable", "no_dataset", 5]);
});

test("a call is in the log and in the metrics as mcp, with the problem that the tool told", async (t) => {
  const service = await startService(t);
  await callTool(service, "list_gps", { wrong: 1 });
  const line = JSON.parse(service.log.at(-1)!);
  assert.deepEqual(
    [line.method, line.path, line.status, line.problem],
    ["POST", "/mcp", 200, "invalid-parameters"],
  );
});

test("tools that could not be loaded are loaded with the next message", async (t) => {
  const service = await startService(t);
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      specifier.startsWith("#mcp/") ? assert.fail("EMFILE") : next(specifier, context),
  });
  assert.equal((await post(service, initialize)).status, 500);
  hooks.deregister();
  assert.equal((await post(service, initialize)).status, 200);
});
