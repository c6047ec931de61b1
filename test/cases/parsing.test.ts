import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { operations } from "#operations/index.ts";
import { listed } from "../support/awkward/words.ts";
import { type OwnProcess, startOwnProcess } from "../support/own-process.ts";
import { assertProblem, faultsIn } from "../support/problem-answer.ts";
import { ask, askBytes, requestText, statusesIn } from "../support/raw-client.ts";
import { type CaseOf, casesOf, settles } from "../support/still-well.ts";

/** Where a request ends and the next begins: what two parsers could disagree about. */
async function framingCases(it: CaseOf, service: OwnProcess): Promise<void> {
  const { port, key } = service;
  const path = "/fetch-gp?gp_name=kkr";
  /** Follows a doubtful request; a parser that takes it for another request causes two responses. */
  const smuggled = requestText("/docs?smuggled");
  let marks = 0;
  /** What was logged since the last call, once all of it is written: lines are in the order of responses. */
  async function linesSinceLast(): Promise<string[]> {
    const [from, to] = [`mark-${marks}"`, `mark-${marks + 1}"`];
    await ask(port, "/health", { headers: [`X-Request-Id: mark-${++marks}`] });
    await settles(() => service.log().includes(to));
    const lines = service.log().split("\n");
    const placeOf = (mark: string) => lines.findIndex((line) => line.includes(mark));
    return lines.slice(placeOf(from) + 1, placeOf(to));
  }

  async function assertRefused(bytes: string, what: string): Promise<void> {
    const answer = await askBytes(port, bytes + smuggled);
    assertProblem(answer, 400, "malformed-request");
    assert.equal(answer.headers["connection"], "close", what);
    assert.deepEqual(statusesIn(answer.text), [400], what);
  }

  await it("C01 · a request without Host is a 400, and the connection is closed", async () => {
    for (const head of ["GET /health HTTP/1.1\r\n\r\n", "GET /health HTTP/1.1\r\nHosts: x\r\n\r\n"])
      await assertRefused(head, head);
    await assertRefused("GET /health HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n", "two");
    const hidden = `${"a: b\r\n".repeat(45)}Host: y\r\n`;
    await assertRefused(`GET /health HTTP/1.1\r\nHost: x\r\n${hidden}\r\n`, "two, far apart");
  });

  await it("C02 · what two readers could read as two requests is one 400 and the end of the connection", async () => {
    const asked = `GET ${path} HTTP/1.1\r\nHost: x\r\nx-api-key: ${key}\r\n`;
    await linesSinceLast();
    for (const lines of [
      "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
      "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
      "Content-Length: 0\r\nContent-Length: 44\r\n",
      "Content-Length: 0\r\nContent-Length: 0\r\n",
      "Content-Length: 0, 0\r\n",
      "Content-Length: +0\r\n",
      "Content-Length: -1\r\n",
      "Content-Length: 0x0\r\n",
      "Content-Length:\r\n",
      "Content-Length: 18446744073709551616\r\n",
      "Transfer-Encoding: xchunked\r\n",
      "Transfer-Encoding: identity\r\n",
      "Transfer-Encoding: gzip, chunked\r\n",
      "Transfer-Encoding: chunked, chunked\r\n",
      "Transfer-Encoding: chunked, identity\r\n",
      "Transfer-Encoding: \u000bchunked\r\n",
      "Transfer-Encoding:\r\n",
      "X: a\r\n folded: yes\r\n",
      "x-api-key :\r\n",
      " X: a\r\n",
      "X: a\u0000b\r\n",
      "X: a\rb\r\n",
      "X: a\nContent-Length: 44\r\n",
      "X\r\n",
      ": a\r\n",
      "X y: a\r\n",
    ])
      await assertRefused(`${asked}${lines}\r\n`, JSON.stringify(lines));
    await assertRefused("GET /health HTTP/1.1\nHost: x\n\n", "bare LF");
    await assertRefused("GET /health HTTP/1.1\r\nHost: x\r\n\n", "bare LF at the end");
    await assertRefused("GET /health\r\nHost: x\r\n\r\n", "no version");
    await assertRefused(requestText("/%ff", { headers: ["Transfer-Encoding: gzip"] }), "no target");
    const coded = ["Transfer-Encoding: chunked", "Connection: keep-alive"];
    const old = requestText(path, { key, headers: coded, version: "1.0", body: "0\r\n\r\n" });
    await assertRefused(old, "a coding that HTTP/1.0 does not have");
    const lines = await linesSinceLast();
    assert.equal(lines.length, 31);
    assert.doesNotMatch(lines.join(), /smuggled|docs/);
  });

  await it("C02 · an answer under way is given before what follows is refused", async () => {
    const follow = ["garbage\r\n\r\n", `GET / HTTP/1.1\r\nX: ${"x".repeat(17_000)}\r\n\r\n`];
    for (const [i, bytes] of [...follow, requestText("x:1", { method: "CONNECT" })].entries()) {
      // Compressed for the first time, so that the answer is not there at once.
      const query = `/fetch-gp?gp_name=northwind&limit=${i + 30}`;
      const asked = requestText(query, { key, headers: ["Accept-Encoding: br"] });
      const answer = await askBytes(port, asked + bytes);
      assert.equal(answer.headers["content-encoding"], "br");
      assert.deepEqual(statusesIn(answer.text).slice(0, 1), [200]);
      const chunked = { key, headers: ["Accept-Encoding: br", "Transfer-Encoding: chunked"] };
      const broken = await askBytes(port, `${requestText(`${query}&offset=1`, chunked)}zz\r\n`);
      assert.deepEqual(statusesIn(broken.text), [200]);
    }
  });

  await it("C03 · too much head is a 431 or a 414, and the connection is closed", async () => {
    for (const head of [
      `GET /health HTTP/1.1\r\nHost: x\r\nX: ${"x".repeat(17 * 1024)}\r\n\r\n`,
      `GET /health HTTP/1.1\r\nHost: x\r\n${"a: b\r\n".repeat(2500)}\r\n`,
      `GET /${"x".repeat(17 * 1024)} HTTP/1.1\r\nHost: x\r\n\r\n`,
      `GET /health HTTP/1.1\r\nHost: x\r\n${"a: b\r\n".repeat(48)}\r\n`,
      `GET /health HTTP/1.1\r\nHost: x\r\n${"a: b\r\n".repeat(49)}\r\n`,
      `GET ${path} HTTP/1.1\r\nHost: x\r\n${"a: b\r\n".repeat(1500)}x-api-key: ${key}\r\n\r\n`,
    ]) {
      const answer = await askBytes(port, head);
      const { maximum, detail } = assertProblem(answer, 431, "headers-too-large");
      assert.equal(maximum, 16_384);
      assert.match(detail, /at most 48 header lines.*at most 16384 bytes/);
      assert.equal(answer.headers["connection"], "close");
    }
    for (const target of [`/health?${"x".repeat(8192)}`, `http://${"x".repeat(8192)}/health`]) {
      const { maximum } = assertProblem(await ask(port, target), 414, "uri-too-long");
      assert.equal(maximum, 8192, target.slice(0, 10));
    }
    assert.equal((await ask(port, `/health?${"x".repeat(8192 - 8)}`)).status, 200);
  });

  await it("C14 · a body changes no answer, and is never read as a request", async () => {
    const inner = requestText("/docs?smuggled");
    const chunks = `${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`;
    const bodies = [
      { headers: [`Content-Length: ${inner.length}`], body: inner },
      { headers: ["Transfer-Encoding: chunked"], body: chunks },
      { headers: ["Transfer-Encoding: Chunked", "Trailer: x-api-key"], body: chunks },
    ];
    const ways = [
      { target: path, method: "GET", key, status: 200 },
      { target: `/v1${path}`, method: "HEAD", key, status: 200 },
      { target: path, method: "GET", key: undefined, status: 401 },
      { target: path, method: "OPTIONS", key: undefined, status: 204 },
      { target: path, method: "POST", key, status: 405 },
      { target: "/fetch-gp", method: "GET", key, status: 400 },
      { target: "/nowhere", method: "GET", key, status: 404 },
    ];
    for (const { target, status, ...parts } of ways)
      for (const body of bodies) {
        await linesSinceLast();
        const { text } = await askBytes(
          port,
          requestText(target, { ...parts, ...body }) + requestText("/health"),
        );
        assert.deepEqual(statusesIn(text), [status, 200], `${parts.method} ${target}`);
        assert.equal((await linesSinceLast()).length, 2);
      }
    const headers = [`If-None-Match: *`, `Content-Length: ${inner.length}`];
    const unchanged = requestText(path, { key, headers, body: inner }) + requestText("/health");
    assert.deepEqual(statusesIn((await askBytes(port, unchanged)).text), [304, 200]);
    const late = {
      headers: ["Transfer-Encoding: chunked"],
      body: `0\r\nx-api-key: ${key}\r\n\r\n`,
    };
    assertProblem(await ask(port, path, late), 401, "api-key-missing");
    const large = await ask(port, path, { key, headers: ["Content-Length: 65537"] });
    assert.equal(assertProblem(large, 413, "content-too-large").maximum, 65_536);
    assert.equal(large.headers["connection"], "close");
  });
}

/** Variants of the paths of operations, and of files that the service has. */
const otherSpellings = listed(`
  /v1/../fetch-gp /v1/%2e%2e/fetch-gp /./fetch-gp /%2e%2e/package.json
  /assets/../../package.json /assets/..%2f..%2fpackage.json
  /assets/%2e%2e%2f%2e%2e%2fpackage.json /assets/..\\..\\package.json /../../../../etc/passwd
  //v1/fetch-gp //fetch-gp //x/fetch-gp /fetch-gp/ /fetch-gp// /Fetch-GP /V1/fetch-gp
  /fetch-gp;x=1 /fetch-gp%3b /fetch-gp%2F /v1%2Ffetch-gp /fetch-gp%3F /fetch-gp%23 /fetch-gp%00
  /fetch-gp%20 /v1\\fetch-gp /v1/v1/fetch-gp /v1 /v2/fetch-gp /v01/fetch-gp /fetch_gp
  /http://x/fetch-gp * *fetch-gp *v1/fetch-gp /data/current
`);

/** Which path and method a request has, and spellings of them that are refused. */
async function pathCases(it: CaseOf, { port, key }: OwnProcess): Promise<void> {
  const query = "gp_name=kkr";

  await it("C04 · a path below an operation, however long, is a 404 or a 414 that echoes at most 50 characters of it (records have no paths of their own)", async () => {
    for (const { path } of operations) {
      for (const length of [1, 101, 8000]) {
        const asked = await ask(port, `${path}/${"i".repeat(length)}`, { key });
        const { detail } = assertProblem(asked, 404, "unknown-path");
        assert.ok(detail.length <= 100);
      }
      for (const sent of [key, undefined]) {
        const asked = await ask(port, `${path}/${"i".repeat(15_000)}`, { key: sent });
        assertProblem(asked, 414, "uri-too-long");
      }
    }
    const { json } = await ask(port, `/fetch-signals?gp_name=${"i".repeat(101)}`, { key });
    assert.equal(json.pagination.total, 0);
    assert.ok(json.meta.hints[0].message.length < 100);
  });

  await it("C05 · what is no percent-encoded UTF-8 is a 400, in the path and in the query", async () => {
    for (const bad of listed(`
      % %zz %4 %ff %c0%ae %C0%80 %e0%80%af %ed%a0%80 %ed%b0%80 %f4%90%80%80 %f8%88%80%80%80
      %u0041 %c3
    `)) {
      for (const path of [`/${bad}`, `/fetch-gp${bad}`, `/v1/${bad}/fetch-gp`, `/errors/${bad}`])
        for (const method of ["GET", "HEAD", "OPTIONS", "POST"]) {
          const answer = await ask(port, path, { key, method });
          if (method === "HEAD") assert.equal(answer.status, 400);
          else assertProblem(answer, 400, "malformed-request");
        }
      const inQuery = await ask(port, `/fetch-gp?gp_name=kkr${bad}`, { key });
      assert.deepEqual(faultsIn(inQuery), ["gp_name invalid_encoding"]);
      assert.deepEqual(faultsIn(await ask(port, `/fetch-gp?${query}&x${bad}=1`, { key })), [
        `x${bad} invalid_encoding`,
      ]);
    }
  });

  await it("C06 · no other spelling of a path leads to a file or past the key: 404 or 400, with and without it", async () => {
    for (const path of otherSpellings)
      for (const sent of [key, undefined])
        assertProblem(await ask(port, `${path}?${query}`, { key: sent }), 404, "unknown-path");
    for (const path of ["/fetch-gp#", "/fetch-gp#/..", "/#/fetch-gp", "http://x#/fetch-gp"])
      assertProblem(await ask(port, `${path}?${query}`, { key }), 400, "malformed-request");
    const root = await ask(port, `http://x?/fetch-gp?${query}`, { key });
    assert.equal(root.headers["content-type"], "text/html; charset=utf-8");
    for (const path of ["/fetch%2Dgp", "/%66etch-gp", "/v1/fetch-g%70"]) {
      assert.equal((await ask(port, `${path}?${query}`, { key })).status, 200);
      assertProblem(await ask(port, `${path}?${query}`), 401, "api-key-missing");
    }
  });

  await it("C07 · every other method is a 405 that names the allowed ones, what is no method a 400, and TRACE echoes nothing", async () => {
    for (const { path } of operations)
      for (const target of [path, `/v1${path}`, `http://x${path}?${query}`]) {
        for (const method of "PUT POST PATCH DELETE PROPFIND TRACE CONNECT QUERY".split(" ")) {
          const answer = await ask(port, target, { key, method, headers: ["X-Secret: mirror"] });
          const { allowed } = assertProblem(answer, 405, "method-not-allowed");
          assert.deepEqual(allowed, ["GET", "HEAD", "OPTIONS"]);
          assert.doesNotMatch(answer.text, /mirror/);
        }
        for (const method of ["FOO", "get", "Get", "GETS", "G ET", ""])
          assertProblem(await ask(port, target, { key, method }), 400, "malformed-request");
      }
    const connecting = await ask(port, "example.org:443", { method: "CONNECT" });
    assertProblem(connecting, 405, "method-not-allowed");
    for (const headers of [["X-HTTP-Method-Override: DELETE"], ["X-Original-URL: /docs"]])
      assert.equal((await ask(port, `/fetch-gp?${query}`, { key, headers })).status, 200);
    await resetAfter("CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n");
  });

  /** Twenty connections that are reset as soon as this is sent, before or during the response. */
  async function resetAfter(bytes: string): Promise<void> {
    for (let i = 0; i < 20; i++) {
      const socket = connect(port, "127.0.0.1").on("error", () => {});
      await once(socket, "connect");
      socket.write(bytes);
      if (i % 2 === 1) await once(socket, "data");
      socket.resetAndDestroy();
      await once(socket, "close");
    }
  }

  await it("C11 · the host that is asked for stands in no header, link or body", async () => {
    for (const sent of [key, undefined])
      for (const path of listed(`
        /fetch-gp?${query} /fetch-signals?limit=1&offset=1 /fetch-gp /nowhere /%zz / /docs
        /openapi.json
      `))
        for (const target of [
          `http://evil.example${path}`,
          `https://evil.example:81${path}`,
          path,
        ]) {
          const head = `GET ${target} HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: evil.example\r\nForwarded: host=evil.example\r\nConnection: close\r\n`;
          const plain = await ask(port, path, { key: sent });
          const answer = await askBytes(port, `${head}${sent ? `x-api-key: ${sent}\r\n` : ""}\r\n`);
          assert.equal(answer.status, plain.status, target);
          assert.doesNotMatch(answer.text, /evil/);
          assert.equal(answer.headers["location"], undefined);
        }
  });
}

/** What clients may do with a connection: be slow, greedy, disconnect, or speak another protocol. */
async function connectionCases(it: CaseOf, { port, key }: OwnProcess): Promise<void> {
  const path = "/fetch-gp?gp_name=kkr";

  async function open(text: string): Promise<Socket> {
    const socket = connect(port, "127.0.0.1").on("error", () => {});
    await once(socket, "connect");
    socket.write(text);
    return socket;
  }

  async function end(sockets: readonly Socket[]): Promise<void> {
    const closed = sockets.map((socket) => once(socket, "close"));
    for (const socket of sockets) socket.resetAndDestroy();
    await Promise.all(closed);
  }

  await it("C09 · two hundred clients that send their headers slowly take no answer from another", async () => {
    const slow = await Promise.all(
      Array.from({ length: 200 }, () => open("GET /health HTTP/1.1\r\nHost: x\r\n")),
    );
    for (let round = 0; round < 20; round++) {
      for (const socket of slow) socket.write(`X-${round}: slow\r\n`);
      for (let i = 0; i < 5; i++) assert.equal((await ask(port, path, { key })).status, 200);
    }
    assert.ok(slow.every((socket) => !socket.closed));
    await end(slow);
  });

  await it("C10 · Expect is met or a 417, Upgrade is an ordinary answer, other protocols are a 400", async () => {
    const expecting = await ask(port, path, { key, headers: ["Expect: 100-continue"] });
    assert.deepEqual(statusesIn(expecting.text), [100, 200]);
    const unmet = await ask(port, path, { key, headers: ["Expect: foo", "X-Request-Id: mine"] });
    assert.equal(assertProblem(unmet, 417, "expectation-failed").request_id, "mine");
    for (const upgrade of ["websocket", "h2c", "TLS/1.3"]) {
      const headers = ["Connection: Upgrade", `Upgrade: ${upgrade}`, "HTTP2-Settings: AAMAAABk"];
      const { status, text } = await ask(port, path, { key, headers });
      assert.equal(status, 200);
      assert.match(text, /^HTTP\/1\.1 200 OK\r\n/);
    }
    const hello = "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003";
    for (const bytes of [hello, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\u0005\u0001\u0000"]) {
      const answer = await askBytes(port, bytes);
      assertProblem(answer, 400, "malformed-request");
      assert.equal(answer.headers["connection"], "close");
    }
  });

  await it("C12 · a client that closes its side after asking gets the whole answer", async () => {
    for (const target of ["/fetch-gp?gp_name=northwind", "/openapi.json", "/docs", "/fetch-gp"]) {
      const { headers, body } = await ask(port, target, { key });
      assert.equal(body.length, Number(headers["content-length"]), target);
    }
    const pipelined = requestText(path, { key }).repeat(3);
    assert.deepEqual(statusesIn((await askBytes(port, pipelined)).text), [200, 200, 200]);
  });

  const next = requestText("/docs");

  await it("C15 · HTTP/1.0 is answered and closed, Connection: close is honoured", async () => {
    for (const target of [path, `/v1${path}`]) {
      const old = await askBytes(
        port,
        `GET ${target} HTTP/1.0\r\nx-api-key: ${key}\r\n\r\n${next}`,
      );
      assert.deepEqual(statusesIn(old.text), [200]);
      assert.equal(old.json.data[0].name, "KKR");
      assert.equal(old.headers["connection"], "close");
    }
    const closing = requestText(path, { key, headers: ["Connection: close"] }) + next;
    const { text, headers } = await askBytes(port, closing);
    assert.deepEqual(statusesIn(text), [200]);
    assert.equal(headers["connection"], "close");
  });

  await it("C13 · answers that nobody waits for and five hundred requests on one connection that does not read harm nobody", async () => {
    for (let i = 0; i < 100; i++) {
      // More than a connection buffers, so that it ends in the middle.
      const socket = await open(requestText("/docs").repeat(i % 2 === 0 ? 1 : 50));
      if (i % 4 < 2) await once(socket, "data");
      await end([socket]);
    }
    const many = Array.from({ length: 500 }, (_, i) =>
      requestText("/fetch-gp?gp_name=northwind", {
        key,
        headers: [`X-Request-Id: id-${i}`, ...(i % 3 === 0 ? ["Accept-Encoding: br"] : [])],
      }),
    );
    const socket = await open(many.join(""));
    socket.pause();
    assert.equal((await ask(port, path, { key })).status, 200);
    const parts: Buffer[] = [];
    socket.on("data", (part: Buffer) => parts.push(part));
    socket.end();
    socket.resume();
    await once(socket, "close");
    const text = Buffer.concat(parts).toString("latin1");
    // Sixteen may wait for the first; the connection ends behind them.
    const accepted = Array.from({ length: 17 }, (_, i) => i);
    assert.deepEqual(statusesIn(text), Array<number>(accepted.length).fill(200));
    const ids = [...text.matchAll(/x-request-id: id-(\d+)/g)].map(([, id]) => Number(id));
    assert.deepEqual(ids, accepted);
  });
}

test("HTTP as it arrives, at a server in a process of its own", async (t) => {
  const service = await startOwnProcess(t);
  const it = casesOf(t, service);
  await framingCases(it, service);
  await pathCases(it, service);
  await connectionCases(it, service);
});
