/** Where a request ends and the next begins: what two parsers could disagree about. */
import assert from "node:assert/strict";
import { assertProblem } from "../../support/problem-answer.ts";
import { ask, askBytes, requestText, statusesIn } from "../../support/raw-client.ts";
import type { OwnProcess } from "../../support/own-process.ts";
import { type CaseOf, settles } from "../../support/still-well.ts";

export async function framingCases(caseOf: CaseOf, service: OwnProcess): Promise<void> {
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

  await caseOf("C01 · a request without Host is a 400, and the connection is closed", async () => {
    for (const head of ["GET /health HTTP/1.1\r\n\r\n", "GET /health HTTP/1.1\r\nHosts: x\r\n\r\n"])
      await assertRefused(head, head);
    await assertRefused("GET /health HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n", "two");
    const hidden = `${"a: b\r\n".repeat(45)}Host: y\r\n`;
    await assertRefused(`GET /health HTTP/1.1\r\nHost: x\r\n${hidden}\r\n`, "two, far apart");
  });

  await caseOf(
    "C02 · what two readers could read as two requests is one 400 and the end of the connection",
    async () => {
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
      const lines = await linesSinceLast();
      assert.equal(lines.length, 28);
      assert.doesNotMatch(lines.join(), /smuggled|docs/);
    },
  );

  await caseOf("C02 · an answer under way is given before what follows is refused", async () => {
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

  await caseOf("C03 · too much head is a 431 or a 414, and the connection is closed", async () => {
    for (const head of [
      `GET /health HTTP/1.1\r\nHost: x\r\nX: ${"x".repeat(17 * 1024)}\r\n\r\n`,
      `GET /health HTTP/1.1\r\nHost: x\r\n${"a: b\r\n".repeat(2500)}\r\n`,
      `GET /${"x".repeat(17 * 1024)} HTTP/1.1\r\nHost: x\r\n\r\n`,
      `GET /health HTTP/1.1\r\nHost: x\r\n${"a: b\r\n".repeat(48)}\r\n`,
      `GET ${path} HTTP/1.1\r\nHost: x\r\n${"a: b\r\n".repeat(1500)}x-api-key: ${key}\r\n\r\n`,
    ]) {
      const answer = await askBytes(port, head);
      assert.equal(assertProblem(answer, 431, "headers-too-large").maximum, 16_384);
      assert.equal(answer.headers["connection"], "close");
    }
    for (const target of [`/health?${"x".repeat(8192)}`, `http://${"x".repeat(8192)}/health`])
      assert.equal(
        assertProblem(await ask(port, target), 414, "uri-too-long").maximum,
        8192,
        target.slice(0, 10),
      );
    assert.equal((await ask(port, `/health?${"x".repeat(8192 - 8)}`)).status, 200);
  });

  await caseOf("C14 · a body changes no answer, and is never read as a request", async () => {
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
