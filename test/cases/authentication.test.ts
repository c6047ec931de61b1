import assert from "node:assert/strict";
import { once } from "node:events";
import { renameSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { routes as accountRoutes } from "#dashboard/screens/index.ts";
import { openReads } from "#gateway/read-operation.ts";
import type { ReadDependencies } from "#gateway/reads.ts";
import { tableOfRoutes, timeouts } from "#http/build-server.ts";
import type { HttpDependencies } from "#http/dependencies.ts";
import { makeKey } from "#keys/api-key.ts";
import { operations } from "#operations/index.ts";
import { type ProblemCode, problemCodes } from "#problems/kinds.ts";
import { allCommands } from "../support/all-commands.ts";
import { listed } from "../support/awkward/words.ts";
import { assertEveryAnswer, assertProblem } from "../support/problem-answer.ts";
import {
  ask,
  askBytes,
  type RawJsonAnswer,
  type RequestParts,
  requestText,
} from "../support/raw-client.ts";
import { startService, type TestService } from "../support/service.ts";
import { type CaseOf, casesOf, inThisProcess } from "../support/still-well.ts";

const path = "/fetch-gp?gp_name=kkr";

/** Which key is accepted. */
async function keyCases(it: CaseOf, service: TestService): Promise<void> {
  const { port, clock, key } = service;
  /** No more than thirty a minute, so that none is refused by the limit on failed keys. */
  const get = (parts: RequestParts, target = path) => {
    clock.advance(2.1);
    return ask(port, target, parts);
  };
  const assertInvalid = (answer: RawJsonAnswer, reason: string, what = reason) =>
    assert.equal(assertProblem(answer, 401, "api-key-invalid").reason, reason, what);
  const damaged = (good: string) =>
    `${good.slice(0, 20)}${good[20] === "a" ? "b" : "a"}${good.slice(21)}`;

  await it("C32 · every key that cannot be used is a 401 whose code tells the fault, word for word the same for all who commit it; what it was before is told to its holder alone", async () => {
    const ends = clock.now() + 1000;
    const { key: expired } = await service.newKey({ expiresAt: ends });
    const { key: revoked, id } = await service.newKey();
    const etag = (await ask(port, path, { key: revoked })).headers["etag"]!;
    const revokedAt = clock.now();
    await allCommands(service.dataDir, {}, clock.now).text("keys revoke", id);
    const kinds: { code: ProblemCode; reason?: string; keys: (string | undefined)[] }[] = [
      { code: "api-key-missing", keys: [undefined, "", " ", " \t "] },
      {
        code: "api-key-invalid",
        reason: "malformed",
        keys: ["nope", "gpr_", `gpx_${key.slice(4)}`, `GPR_${key.slice(4)}`],
      },
      {
        code: "api-key-invalid",
        reason: "checksum",
        keys: [key, expired, revoked, makeKey()].map(damaged),
      },
      { code: "api-key-invalid", reason: "unknown", keys: [makeKey(), makeKey()] },
      { code: "api-key-expired", keys: [expired, expired] },
      { code: "api-key-revoked", keys: [revoked, revoked] },
    ];
    for (const { code, reason, keys } of kinds) {
      const seen = new Set<string>();
      for (const wrong of keys)
        for (const target of [path, "/v1/fetch-signals?limit=0", "/fetch-gp"]) {
          const answer = await get(
            { key: wrong, headers: ["If-None-Match: *", `If-None-Match: ${etag}`] },
            target,
          );
          const problem = assertProblem(answer, 401, code);
          assert.equal(problem.reason, reason);
          assert.equal(answer.headers["ratelimit"], undefined);
          if (wrong !== undefined && wrong.length > 8)
            assert.equal(answer.text.includes(wrong.slice(8)), false);
          const { "x-request-id": _id, date: _date, ...headers } = answer.headers;
          seen.add(JSON.stringify([headers, { ...problem, request_id: null }]));
        }
      assert.equal(seen.size, 1, code);
    }
    for (const [of, member, moment] of [
      [expired, "expired_at", ends],
      [revoked, "revoked_at", revokedAt],
    ] as const) {
      const { json } = await get({ key: of });
      const told = [json.key_hint, json[member], json.account_url];
      assert.deepEqual(told, [of.slice(0, 8), new Date(moment).toISOString(), "/account"]);
    }
  });

  await it("C33 · two lines with a key are refused, whichever of them is valid", async () => {
    for (const twice of [
      [key, key],
      [key, "nope"],
      ["nope", key],
      [key, ""],
      ["", key],
    ])
      for (const name of ["x-api-key", "X-API-KEY"]) {
        const lines = [`x-api-key: ${twice[0]}`, `${name}: ${twice[1]}`];
        assertInvalid(await get({ headers: lines }), "malformed", twice.join());
        const apart = [lines[0]!, ...Array<string>(40).fill("a: b"), lines[1]!];
        assertInvalid(await get({ headers: apart }), "malformed");
      }
    const { json } = await get({ headers: [`x-api-key: ${key}`, `x-api-key: ${key}`] });
    assert.match(json.detail, /only once/);
    for (const joined of [`${key},${key}`, `${key}, `, `,${key}`, `${key};`])
      assertInvalid(await get({ key: joined }), "malformed");
    assert.equal((await get({ key })).status, 200);
  });

  await it("C34 · a key is taken letter by letter: nothing is trimmed from it, unquoted or made alike", async () => {
    const swapped = key
      .slice(4)
      .replace(/[a-z]/gi, (letter) =>
        letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
      );
    for (const almost of [
      key.slice(0, -1),
      key.slice(1),
      `${key}0`,
      `0${key}`,
      `${key}${key}`,
      key.toUpperCase(),
      `"${key}"`,
      `'${key}'`,
      `<${key}>`,
      `Bearer ${key}`,
      `ApiKey ${key}`,
      `x-api-key: ${key}`,
      key.replace("_", "%5F"),
      key.replace("_", "-"),
      key.replace("_", " "),
      `${key}\u00a0`,
      `${key}\u00e9`,
      `\u00ef\u00bb\u00bf${key}`,
      key.replace("p", "\u00d1\u0080"),
      `${key}\u0085`,
    ])
      assertInvalid(await get({ key: almost }), "malformed", almost);
    for (const almost of [`gpr_${key.slice(4).toLowerCase()}`, `gpr_${swapped}`, damaged(key)])
      assertInvalid(await get({ key: almost }), "checksum", almost);
  });

  await it("C37 · a key of fifteen thousand characters is a 401 like any other", async () => {
    for (const long of ["g".repeat(15_000), key.repeat(375), `${key}${" ".repeat(14_000)}x`])
      assertInvalid(await get({ key: long }), "malformed");
    assertProblem(await get({ key: key.repeat(500) }), 431, "headers-too-large");
  });
}

/** Where a key is read, and that it is never echoed from anywhere else. */
async function keyPlaceCases(it: CaseOf, { port, key }: TestService): Promise<void> {
  const get = (parts: RequestParts, target = path) => ask(port, target, parts);

  await it("C35 · a key in the query, the path, a cookie, Authorization or any other header is not read, and never echoed", async () => {
    const elsewhere = [
      "Authorization: Bearer",
      "Authorization: ApiKey",
      "Cookie: x-api-key=",
      "X-Key:",
      "Api-Key:",
      "X-Api-Token:",
      "Proxy-Authorization:",
      "X-Request-Id:",
      "From:",
    ];
    for (const line of elsewhere) {
      const answer = await get({ headers: [`${line} ${key}`] });
      assertProblem(answer, 401, "api-key-missing");
      assert.equal(answer.text.includes(key.slice(8)), false, line);
    }
    const escapes = [key.replace("_", "%5F"), key.replace("_", "%5f"), key.replace("g", "%67")];
    for (const encoded of [key, ...escapes]) {
      for (const name of ["x-api-key", "api_key", "key", "gp_name", encoded])
        for (const more of ["", "&limit=%zz"]) {
          const answer = await get({}, `${path}&${name}=${encoded}${more}`);
          assertProblem(answer, 401, "api-key-missing");
          assert.equal(answer.text.includes(key.slice(8)), false, name);
          const refused = await get({ key }, `${path}&${encoded}%zz=${name}`);
          assertProblem(refused, 400, "invalid-parameters");
          assert.equal(refused.text.includes(key.slice(8)), false, name);
        }
      for (const target of [
        `/${encoded}`,
        `/fetch-gp/${encoded}`,
        `/errors/${encoded}`,
        `/${encoded}/fetch-gp`,
        `http://${encoded}/fetch`,
      ]) {
        const answer = await get({}, target);
        assertProblem(answer, 404, "unknown-path");
        assert.equal(answer.text.includes(key.slice(8)), false, target);
      }
      const named = await get({}, `http://${encoded}@x/fetch`);
      assertProblem(named, 400, "malformed-request");
      assert.equal(named.text.includes(key.slice(8)), false);
    }
    for (const [place, parts, target] of [
      ["the query string", {}, `${path}&x=${key}`],
      ["the header Authorization", { headers: [`Authorization: Bearer ${key}`] }, path],
      ["a cookie", { headers: [`Cookie: a=${key}`] }, path],
    ] as const)
      assert.match(
        (await get(parts, target)).json.detail,
        new RegExp(`looks like a key was sent in ${place}`),
      );
  });

  await it("C36 · the name of the header is read in any letter case, and blanks around the key mean nothing", async () => {
    for (const line of [
      `X-API-KEY: ${key}`,
      `X-Api-Key: ${key}`,
      `x-api-key:${key}`,
      `x-api-key: \t ${key} \t `,
    ])
      assert.equal((await get({ headers: [line] })).status, 200, line);
    for (const line of [
      `x_api_key: ${key}`,
      `xapikey: ${key}`,
      `x-api-key-: ${key}`,
      `x-api-keys: ${key}`,
    ])
      assertProblem(await get({ headers: [line] }), 401, "api-key-missing");
  });
}

/** Everything that may be served without a key. */
const publicPaths = [
  ...listed(`
    / /openapi.json /docs /docs/vocabulary /docs/explain /docs/mcp /errors /changelog
    /changes.atom /privacy
    /llms.txt /account /account/sign-in /account/sign-up /account/forgot /account/link /health /ready
  `),
  ...problemCodes.map((code) => `/errors/${code}`),
  ...operations.map(({ name }) => `/docs/${name}`),
];

/** What is served without a valid key. */
async function noKeyCases(it: CaseOf, { port, clock, key }: TestService): Promise<void> {
  await it("C38 · thirty wrong keys a minute from one address are 401, all further ones 429, and a valid client among them is always answered", async () => {
    clock.advance(60);
    const wrongKeys = ["nope", makeKey(), makeKey(), key.slice(0, -1)] as const;
    for (let i = 0; i < 200; i++) {
      const wrong = await ask(port, path, { key: wrongKeys[i % 4]! });
      if (i < 30) assertProblem(wrong, 401, "api-key-invalid");
      else {
        const problem = assertProblem(wrong, 429, "quota-exceeded");
        assert.deepEqual(problem["violated-policies"], ["failed-keys"]);
        assert.deepEqual(problem["policies"], [
          { name: "failed-keys", quota: 30, window: 60, remaining: 0, reset: 60 },
        ]);
        assert.equal(
          problem.detail,
          "30 wrong keys came from your address within a minute. Try again in 60 seconds.",
        );
        for (const name of ["ratelimit", "ratelimit-policy"])
          assert.equal(wrong.headers[name], undefined);
        assert.equal(problem.retry_after, 60);
      }
      if (i % 5 === 0) assert.equal((await ask(port, path, { key })).status, 200);
    }
    assertProblem(await ask(port, path), 401, "api-key-missing");
    const others = await Promise.all(
      Array.from({ length: 200 }, (_, i) => ask(port, path, { key: i % 2 === 0 ? key : "nope" })),
    );
    for (const [i, { status }] of others.entries()) assert.equal(status, i % 2 === 0 ? 200 : 429);
    clock.advance(59.9);
    const early = await ask(port, path, { key: "nope" });
    assert.equal(assertProblem(early, 429, "quota-exceeded").retry_after, 1);
    clock.advance(0.1);
    assertProblem(await ask(port, path, { key: "nope" }), 401, "api-key-invalid");
  });

  await it("C39 · without a key every operation is a 401 in every spelling, an unknown path is the same 404 as with one, and nothing is public beside what is listed", async () => {
    for (const { path: operation } of operations)
      for (const target of [
        operation,
        `/v1${operation}`,
        operation.replace("-", "%2D"),
        `/%${operation.charCodeAt(1).toString(16)}${operation.slice(2)}`,
        `http://x${operation}`,
        `${operation}?gp_name=kkr&limit=0`,
        `${operation}?x-api-key=`,
      ]) {
        const answer = await ask(port, target);
        assertProblem(answer, 401, "api-key-missing");
        const head = await ask(port, target, { method: "HEAD" });
        assert.deepEqual([head.status, head.body], [401, ""]);
        assert.equal(head.headers["www-authenticate"], answer.headers["www-authenticate"]);
      }
    for (const target of ["/nowhere", "/v1/nowhere", "/fetch-gp/", "/metrics", "/admin"]) {
      const [without, withKey] = [await ask(port, target), await ask(port, target, { key })];
      const { request_id: _, ...problem } = assertProblem(without, 404, "unknown-path");
      const { request_id: _other, ...same } = withKey.json;
      assert.deepEqual(same, problem);
      assert.equal(withKey.headers["ratelimit"], undefined);
    }
    const answering = { operations, offers: null } as unknown as ReadDependencies;
    const table = tableOfRoutes({
      config: { publicUrl: null },
      operations,
      reads: openReads(answering, { find: () => assert.fail("nothing is asked") }),
      clock,
    } as unknown as HttpDependencies);
    assert.ok(table.some(({ path: route }) => route === "/v1/fetch-gp"));
    assert.ok(table.some(({ path: route }) => route === "/errors/unavailable"));
    for (const { path: route, methods, who } of table) {
      // What a person may see is asked below, page by page.
      if (who === "person") continue;
      const [method = ""] = methods;
      const { status } = await ask(port, route, { method });
      assert.equal(status === 401, who === "key", route);
      if (who === "public")
        assert.ok(publicPaths.includes(route) || route.startsWith("/assets/"), route);
    }
    for (const { path: page } of accountRoutes) {
      if (publicPaths.includes(page)) continue;
      const { status } = await ask(port, page.replaceAll(/\{\w+\}/g, "x"), { key });
      // 405 where a page only takes forms; what those need is C90's. Former addresses lead to where one has to sign in.
      const wanted = page.startsWith("/feeds/") ? [404] : [401, 405, 308];
      assert.ok(wanted.includes(status), `${page}: ${status}`);
    }
  });
}

async function statusCases(it: CaseOf, service: TestService): Promise<void> {
  const { port, key } = service;
  const path = "/fetch-gp?gp_name=northwind";

  await it("C08 · whoever sends nothing, half a head, half a form or a line now and then gets a 408 and the end of the connection, within 20 seconds by the time-outs that are set", async () => {
    const { server } = service;
    assert.ok(timeouts.request + timeouts.checkEvery <= 20_000);
    assert.equal(server.headersTimeout, timeouts.headers);
    assert.equal(server.requestTimeout, timeouts.request);
    Object.assign(server, { headersTimeout: 50, requestTimeout: 50 });
    const waiting = [
      "",
      "GET /health HTTP/1.1\r\nHo",
      "GET /health HTTP/1.1\r\nHost: x\r\n",
      "POST /account/sign-in HTTP/1.1\r\nHost: x\r\nContent-Length: 30\r\n\r\na=b",
    ];
    const texts = waiting.map(async (sent, i) => {
      const socket = connect(port, "127.0.0.1");
      let text = "";
      socket.on("data", (bytes) => (text += String(bytes)));
      socket.write(sent);
      const drip = setInterval(() => i === 2 && socket.write("X: y\r\n"), 50);
      await once(socket, "end");
      clearInterval(drip);
      socket.destroy();
      return text;
    });
    const answers = await Promise.all(texts);
    Object.assign(server, { headersTimeout: timeouts.headers, requestTimeout: timeouts.request });
    for (const text of answers) {
      assert.match(text, /^HTTP\/1\.1 408 Request Timeout\r\n/);
      assert.match(text, /\r\nconnection: close\r\n/);
      assert.match(text, /"code":"request-timeout"/);
    }
  });

  await it("C16 · every status names its type with the charset, nosniff, an id and how long it may be kept; answers are private and vary by what they depend on beside the key, refusals are stored nowhere", async (inner) => {
    const etag = (await ask(port, path, { key })).headers["etag"]!;
    const unchanged = await ask(port, path, { key, headers: [`If-None-Match: ${etag}`] });
    assert.equal(unchanged.status, 304);
    assertEveryAnswer(unchanged.headers);
    assert.equal(unchanged.headers["cache-control"], "private, no-cache");
    for (const target of [path, "/fetch-signals", "/health", "/openapi.json"]) {
      const { status, headers } = await ask(port, target, { key });
      assert.equal(status, 200);
      assertEveryAnswer(headers);
      assert.equal(headers["content-type"], "application/json; charset=utf-8");
      const kept = { "/health": "no-store", "/openapi.json": "public, max-age=300" }[target];
      assert.equal(headers["cache-control"], kept ?? "private, no-cache");
    }
    const options = await ask(port, path, { method: "OPTIONS" });
    assert.equal(options.status, 204);
    assertEveryAnswer(options.headers);

    const { key: spent } = await service.newKey({ quotas: { minute: 1 } });
    await ask(port, path, { key: spent });
    const empty = await startService(inner, { records: null });
    assertProblem(await askBytes(port, "?"), 400, "malformed-request");
    assertProblem(await ask(port, "/%"), 400, "malformed-request");
    assertProblem(await ask(port, "/fetch-gp", { key }), 400, "invalid-parameters");
    assertProblem(await ask(port, path), 401, "api-key-missing");
    assertProblem(await ask(port, path, { key: "no" }), 401, "api-key-invalid");
    assertProblem(await ask(port, "/nowhere", { key }), 404, "unknown-path");
    assertProblem(await ask(port, path, { key, method: "PUT" }), 405, "method-not-allowed");
    assertProblem(await ask(port, path, { key, headers: ["Accept: a/b"] }), 406, "not-acceptable");
    const large = await ask(port, path, { headers: ["Content-Length: 99999"] });
    assertProblem(large, 413, "content-too-large");
    assertProblem(await ask(port, `/${"x".repeat(8192)}`), 414, "uri-too-long");
    assertProblem(await ask(port, path, { headers: ["Expect: x"] }), 417, "expectation-failed");
    assertProblem(await ask(port, path, { key: spent }), 429, "quota-exceeded");
    const long = await askBytes(port, requestText(`/${"x".repeat(17_000)}`));
    assertProblem(long, 431, "headers-too-large");
    assertProblem(await ask(empty.port, path, { key: empty.key }), 503, "unavailable");
    await empty.stop();
  });
}

/** Apart from the others, since these must be logged as errors. */
function failingCases(t: TestContext, service: TestService): Promise<void> {
  const { port, key, clock, log } = service;
  return t.test(
    "C16 · a fault of our own is a 500 of the same kind, told to the log alone",
    async (inner) => {
      // The timer of the journal reads the same clock, and what fails there answers nobody.
      const { monotonicMicroseconds } = clock;
      inner.mock.method(clock, "monotonicMicroseconds", () => {
        const fault = new Error("select secret from store at /srv/file.ts:1:1");
        if (fault.stack!.includes("gateway/gateway.ts")) throw fault;
        return monotonicMicroseconds();
      });
      const answer = await ask(port, "/fetch-signals", { key });
      inner.mock.restoreAll();
      const { request_id: id } = assertProblem(answer, 500, "internal-error");
      assert.ok(log.some((line) => line.includes("secret") && line.includes(id)));
      assert.equal((await ask(port, "/fetch-signals", { key })).status, 200);
    },
  );
}

/** What keeps working while the key store cannot be read. */
async function storeAwayCases(it: CaseOf, service: TestService): Promise<void> {
  const { port, clock, dataDir } = service;
  const { key } = await service.newKey();

  await it("C104 · while the store of keys is away health and readiness are 200 as before, for whoever asks, uncounted and without a version; metrics are not on this port", async () => {
    const assertWell = async () => {
      for (const sent of [key, undefined, "nope"])
        for (const target of ["/health", "/ready"]) {
          const answer = await ask(port, target, { key: sent });
          assert.deepEqual([answer.status, answer.json], [200, { status: "ok" }]);
          assert.equal(answer.headers["ratelimit"], undefined);
        }
    };
    await assertWell();
    assert.equal((await ask(port, path, { key })).status, 200);
    const store = join(dataDir, "control.sqlite");
    renameSync(store, `${store}.away`);
    clock.advance(2);
    await assertWell();
    const { status, headers } = await ask(port, path, { key });
    assert.equal(status, 200, "keys that were read stay in force");
    assert.match(headers["ratelimit"]!, /^"minute";r=58;/);
    assertProblem(await ask(port, path, { key: makeKey() }), 401, "api-key-invalid");
    renameSync(`${store}.away`, store);
    clock.advance(2);
    assert.match(service.log.join(""), /keys cannot be read/);
    await assertWell();
    for (const target of ["/metrics", "/admin", "/debug", "/status", "/health/", "/v1/metrics"])
      assertProblem(await ask(port, target, { key }), 404, "unknown-path");
  });
}

test("who asks, and what everybody is told", async (t) => {
  const started = await startService(t);
  const { key } = await started.newKey({ quotas: { minute: 10_000, hour: 10_000 } });
  const service = { ...started, key };
  // The thread of the account pages starts with the first request for one, and keeps its stores open.
  await service.get("/account/keys", { host: "localhost" });
  const it = casesOf(t, inThisProcess(service));
  await keyCases(it, service);
  await keyPlaceCases(it, service);
  await noKeyCases(it, service);
  await statusCases(it, service);
  await storeAwayCases(it, service);
  await failingCases(t, service);
});
