import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { readConfig } from "#config.ts";
import type { PageAnswer, PageRequest } from "#dashboard/messages.ts";
import type { Outgoing } from "#http/dependencies.ts";
import { sendNow } from "#http/send-answer.ts";
import { openHttpServer } from "../support/http-server.ts";
import { sendRaw } from "../support/raw-client.ts";
import { startService } from "../support/service.ts";

const hello: PageAnswer = {
  status: 200,
  headers: [
    ["content-type", "text/html; charset=utf-8"],
    ["set-cookie", "one=1"],
    ["set-cookie", "two=2"],
  ],
  body: "<h1>Grüß Gott</h1>",
};

/** An HTTP server whose account worker notes its requests. */
async function open(t: TestContext, settings: Record<string, string> = {}) {
  const asked: PageRequest[] = [];
  const http = await openHttpServer(t, {
    config: readConfig(settings),
    async accountWorker(request) {
      asked.push(request);
      return hello;
    },
  });
  return { ...http, asked };
}

const host = "Host: 127.0.0.1";

test("a form reaches the account worker whole, with the few headers it reads", async (t) => {
  const { port, asked } = await open(t);
  const form = "name=a%20b&note=%C3%A9";
  const lines = [
    "POST /account/keys/key_1?done=yes HTTP/1.1",
    host,
    "Content-Type: application/x-www-form-urlencoded",
    "Cookie: a=1; b=2",
    "Origin: http://127.0.0.1",
    "Sec-Fetch-Site: same-origin",
    "User-Agent: test",
    "X-Other: not looked at",
    `Content-Length: ${form.length}`,
    "Connection: close",
  ];
  await sendRaw(port, `${lines.join("\r\n")}\r\n\r\n${form}`);
  const [{ now, monotonicMicroseconds, ...request }] = asked as [PageRequest];
  assert.equal(typeof now, "number");
  assert.equal(typeof monotonicMicroseconds, "number");
  assert.deepEqual(request, {
    method: "POST",
    path: "/account/keys/key_1",
    query: "done=yes",
    body: Uint8Array.from(Buffer.from(form)),
    bodyType: "application/x-www-form-urlencoded",
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      cookie: "a=1; b=2",
      host: "127.0.0.1",
      origin: "http://127.0.0.1",
      "sec-fetch-site": "same-origin",
      "user-agent": "test",
    },
    address: "127.0.0.1",
  });
});

test("a page of an account keeps its cookies apart, and tells browsers to come back over https alone where that is how the public comes", async (t) => {
  for (const [settings, transport] of [
    [{}, null],
    [{ PUBLIC_URL: "https://records.example" }, "max-age=63072000"],
  ] as const) {
    const { get } = await open(t, settings);
    const { status, headers, text } = await get("/account");
    assert.deepEqual([status, text], [200, hello.body]);
    assert.equal(headers.get("cross-origin-opener-policy"), "same-origin");
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.equal(headers.get("strict-transport-security"), transport);
    assert.deepEqual(headers.getSetCookie(), ["one=1", "two=2"]);
  }
});

test("a page of an account is not compressed, for its length would tell of what is secret in it", async (t) => {
  const body = "<h1>gpr_ and what was asked</h1>".repeat(200);
  const { get } = await openHttpServer(t, { accountWorker: async () => ({ ...hello, body }) });
  for (const path of ["/account", "/account/keys"]) {
    const { headers, text } = await get(path, { "accept-encoding": "br, gzip" });
    assert.equal(text, body);
    assert.equal(headers.get("content-encoding"), null);
    assert.equal(headers.get("content-length"), String(body.length));
  }
});

test("a page is sent once counts are committed, for it may be a download", async (t) => {
  const { promise, resolve: afterCommit } = Promise.withResolvers<Outgoing>();
  const accountWorker = async () => hello;
  const { get } = await openHttpServer(t, { accountWorker, afterCommit });
  const asked = get("/browse/gps/download", {}, "POST");
  sendNow((await Promise.race([promise, asked])) as Outgoing);
  assert.equal((await asked).status, 200);
});

test("methods that a page does not take are a 405 that names those it takes, and so is a preflight", async (t) => {
  const { get } = await startService(t);
  const noKey = { "x-api-key": "", origin: "https://evil.example" };
  for (const [path, allowed] of [
    ["/browse/gps", "GET, HEAD"],
    ["/browse/gps/download", "POST"],
    ["/browse/match", "GET, HEAD, POST"],
    ["/account/keys", "GET, HEAD, POST"],
    ["/account/keys/key_1", "GET, HEAD"],
    ["/account/sign-out", "POST"],
    ["/feeds/a", "GET, HEAD"],
    ["/account/nowhere", null],
  ] as const)
    for (const method of ["GET", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"]) {
      const { status, headers } = await get(path, noKey, method);
      const isTaken = allowed?.split(", ").includes(method);
      if (isTaken) assert.notEqual(status, 405, `${method} ${path}`);
      else assert.equal(status, allowed === null ? 404 : 405, `${method} ${path}`);
      assert.equal(headers.get("allow"), isTaken ? null : allowed, `${method} ${path}`);
      assert.equal(headers.get("access-control-allow-origin"), null);
    }
});

test("pages for people are at four prefixes and nowhere beside them, and feeds take no form", async (t) => {
  const { get, asked } = await open(t);
  const paths = ["/account", "/account/keys", "/browse", "/browse/gps/gp_1", "/search", "/feeds/a"];
  for (const path of paths) assert.equal((await get(path)).status, 200, path);
  const reached = asked.map(({ path }) => path);
  assert.deepEqual(reached, paths);
  assert.equal((await get("/feeds/a", {}, "POST")).status, 405);
  for (const path of ["/accounts", "/accountx/keys", "/Account", "/browser", "/searches", "/feeds"])
    assert.equal((await get(path)).status, 404, path);
  assert.equal(asked.length, paths.length);
});

test("no log line has the secret of a feed, whatever becomes of the request", async (t) => {
  const secret = "s3cret".repeat(7);
  const { get, log, port } = await openHttpServer(t, {
    async accountWorker({ path, query }) {
      if (query !== "") throw new Error("The thread ended.");
      return { ...hello, status: path.endsWith("x") ? 404 : 200 };
    },
  });
  const asked = [
    ["", "GET", 200],
    ["x", "GET", 404],
    ["/more", "GET", 200],
    ["?a=b", "GET", 500],
    ["", "POST", 405],
    ["%zz", "GET", 400],
  ] as const;
  for (const [rest, method, status] of asked)
    assert.equal((await get(`/feeds/${secret}${rest}`, {}, method)).status, status, rest);
  await sendRaw(port, `GET /feeds/${secret} HTTP/1.1\r\n${host}\r\nBad Header: 1\r\n\r\n`);
  assert.ok(log.length >= asked.length, log.join("\n"));
  assert.ok(log.some((line) => line.includes('"/feeds/*"')));
  assert.ok(!log.join("\n").includes("s3cret"));
});

test("a form larger than any of ours is a 413 before it is read, and ends the connection", async (t) => {
  const { port, asked } = await open(t);
  const type = "Content-Type: application/x-www-form-urlencoded";
  const large = "a".repeat(65_537);
  const declared = `POST /account/keys HTTP/1.1\r\n${host}\r\n${type}\r\nContent-Length: 65537\r\n\r\n${large}`;
  const chunked = `POST /account/keys HTTP/1.1\r\n${host}\r\n${type}\r\nTransfer-Encoding: chunked\r\n\r\n10001\r\n${large}\r\n0\r\n\r\n`;
  for (const bytes of [declared, chunked]) {
    const { status, headers, body } = await sendRaw(port, bytes);
    assert.equal(status, 413);
    assert.equal(headers["connection"], "close");
    assert.match(body, /<code>content-too-large<\/code>/);
  }
  assert.deepEqual(asked, []);
});

test("an account worker that fails is a 500 page with a request id, and the next request is tried again", async (t) => {
  const { get, log } = await openHttpServer(t, {
    accountWorker: () => Promise.reject(new Error("The thread ended.")),
  });
  for (let i = 0; i < 2; i++) {
    const { status, headers, text } = await get("/account/keys");
    assert.equal(status, 500);
    assert.match(text, /<code>internal-error<\/code>/);
    assert.ok(text.includes(headers.get("x-request-id")!));
    assert.doesNotMatch(text, /The thread ended/);
    const { body } = await get("/account/keys", { accept: "application/json" });
    assert.equal(body.code, "internal-error");
  }
  assert.match(log.join(""), /The thread ended\./);
});
