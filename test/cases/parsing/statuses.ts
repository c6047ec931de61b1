/** Every status that the service can send; the cases set its clock and timeouts. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import type { TestContext } from "node:test";
import { timeouts } from "#http/build-server.ts";
import { assertEveryAnswer, assertProblem } from "../../support/problem-answer.ts";
import { ask, askBytes, requestText } from "../../support/raw-client.ts";
import { startService, type TestService } from "../../support/service.ts";
import type { CaseOf } from "../../support/still-well.ts";

export async function statusCases(caseOf: CaseOf, service: TestService): Promise<void> {
  const { port, key } = service;
  const path = "/fetch-gp?gp_name=northwind";

  await caseOf(
    "C08 · whoever sends nothing, half a head or a line now and then gets a 408 and the end of the connection, within 20 seconds by the time-outs that are set",
    async () => {
      const { server } = service;
      assert.ok(timeouts.request + timeouts.checkEvery <= 20_000);
      assert.deepEqual(
        [server.headersTimeout, server.requestTimeout],
        [timeouts.headers, timeouts.request],
      );
      Object.assign(server, { headersTimeout: 50, requestTimeout: 50 });
      const waiting = ["", "GET /health HTTP/1.1\r\nHo", "GET /health HTTP/1.1\r\nHost: x\r\n"];
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
      Object.assign(server, {
        headersTimeout: timeouts.headers,
        requestTimeout: timeouts.request,
      });
      for (const text of answers) {
        assert.match(text, /^HTTP\/1\.1 408 Request Timeout\r\n/);
        assert.match(text, /\r\nconnection: close\r\n/);
        assert.match(text, /"code":"request-timeout"/);
      }
    },
  );

  await caseOf(
    "C16 · every status names its type with the charset, nosniff, an id and how long it may be kept; answers are private and vary by what they depend on beside the key, refusals are stored nowhere",
    async (inner) => {
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
      assertProblem(
        await ask(port, path, { key, headers: ["Accept: a/b"] }),
        406,
        "not-acceptable",
      );
      assertProblem(
        await ask(port, path, { headers: ["Content-Length: 99999"] }),
        413,
        "content-too-large",
      );
      assertProblem(await ask(port, `/${"x".repeat(8192)}`), 414, "uri-too-long");
      assertProblem(await ask(port, path, { headers: ["Expect: x"] }), 417, "expectation-failed");
      assertProblem(await ask(port, path, { key: spent }), 429, "quota-exceeded");
      assertProblem(
        await askBytes(port, requestText(`/${"x".repeat(17_000)}`)),
        431,
        "headers-too-large",
      );
      assertProblem(await ask(empty.port, path, { key: empty.key }), 503, "unavailable");
      await empty.stop();
    },
  );
}

/** Apart from the others, since these must be logged as errors. */
export function failingCases(t: TestContext, service: TestService): Promise<void> {
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
