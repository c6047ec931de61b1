/** What clients may do with a connection: be slow, greedy, disconnect, or speak another protocol. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { assertProblem } from "../../support/problem-answer.ts";
import { ask, askBytes, requestText, statusesIn } from "../../support/raw-client.ts";
import type { OwnProcess } from "../../support/own-process.ts";
import type { CaseOf } from "../../support/still-well.ts";

export async function connectionCases(caseOf: CaseOf, { port, key }: OwnProcess): Promise<void> {
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

  await caseOf(
    "C09 · two hundred clients that send their headers slowly take no answer from another",
    async () => {
      const slow = await Promise.all(
        Array.from({ length: 200 }, () => open("GET /health HTTP/1.1\r\nHost: x\r\n")),
      );
      for (let round = 0; round < 20; round++) {
        for (const socket of slow) socket.write(`X-${round}: slow\r\n`);
        for (let i = 0; i < 5; i++) assert.equal((await ask(port, path, { key })).status, 200);
      }
      assert.ok(slow.every((socket) => !socket.closed));
      await end(slow);
    },
  );

  await caseOf(
    "C10 · Expect is met or a 417, Upgrade is an ordinary answer, other protocols are a 400",
    async () => {
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
    },
  );

  await caseOf(
    "C12 · a client that closes its side after asking gets the whole answer",
    async () => {
      for (const target of ["/fetch-gp?gp_name=northwind", "/openapi.json", "/docs", "/fetch-gp"]) {
        const { headers, body } = await ask(port, target, { key });
        assert.equal(body.length, Number(headers["content-length"]), target);
      }
      const pipelined = requestText(path, { key }).repeat(3);
      assert.deepEqual(statusesIn((await askBytes(port, pipelined)).text), [200, 200, 200]);
    },
  );

  const next = requestText("/docs");

  await caseOf("C15 · HTTP/1.0 is answered and closed, Connection: close is honoured", async () => {
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

  await caseOf(
    "C13 · answers that nobody waits for and five hundred requests on one connection that does not read harm nobody",
    async () => {
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
      assert.deepEqual(
        statusesIn(text),
        accepted.map(() => 200),
      );
      const ids = [...text.matchAll(/x-request-id: id-(\d+)/g)].map(([, id]) => Number(id));
      assert.deepEqual(ids, accepted);
    },
  );
}
