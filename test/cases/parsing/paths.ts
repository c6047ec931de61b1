/** Which path and method a request has, and spellings of them that are refused. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { operations } from "#operations/index.ts";
import { assertProblem, faultsIn } from "../../support/problem-answer.ts";
import { ask, askBytes } from "../../support/raw-client.ts";
import type { OwnProcess } from "../../support/own-process.ts";
import type { CaseOf } from "../../support/still-well.ts";

/** Variants of the paths of operations, and of files that the service has. */
const otherSpellings = [
  "/v1/../fetch-gp",
  "/v1/%2e%2e/fetch-gp",
  "/./fetch-gp",
  "/%2e%2e/package.json",
  "/assets/../../package.json",
  "/assets/..%2f..%2fpackage.json",
  "/assets/%2e%2e%2f%2e%2e%2fpackage.json",
  "/assets/..\\..\\package.json",
  "/../../../../etc/passwd",
  "//v1/fetch-gp",
  "//fetch-gp",
  "//x/fetch-gp",
  "/fetch-gp/",
  "/fetch-gp//",
  "/Fetch-GP",
  "/V1/fetch-gp",
  "/fetch-gp;x=1",
  "/fetch-gp%3b",
  "/fetch-gp%2F",
  "/v1%2Ffetch-gp",
  "/fetch-gp%3F",
  "/fetch-gp%23",
  "/fetch-gp%00",
  "/fetch-gp%20",
  "/v1\\fetch-gp",
  "/v1/v1/fetch-gp",
  "/v1",
  "/v2/fetch-gp",
  "/v01/fetch-gp",
  "/fetch_gp",
  "/http://x/fetch-gp",
  "*",
  "*fetch-gp",
  "*v1/fetch-gp",
  "/data/current",
];

export async function pathCases(caseOf: CaseOf, { port, key }: OwnProcess): Promise<void> {
  const query = "gp_name=kkr";

  await caseOf(
    "C04 · a path below an operation, however long, is a 404 or a 414 that echoes at most 50 characters of it (records have no paths of their own)",
    async () => {
      for (const { path } of operations) {
        for (const length of [1, 101, 8000]) {
          const asked = await ask(port, `${path}/${"i".repeat(length)}`, { key });
          const { detail } = assertProblem(asked, 404, "unknown-path");
          assert.ok(detail.length <= 100);
        }
        for (const sent of [key, undefined])
          assertProblem(
            await ask(port, `${path}/${"i".repeat(15_000)}`, { key: sent }),
            414,
            "uri-too-long",
          );
      }
      const { json } = await ask(port, `/fetch-signals?gp_name=${"i".repeat(101)}`, { key });
      assert.equal(json.pagination.total, 0);
      assert.ok(json.meta.hints[0].message.length < 100);
    },
  );

  await caseOf(
    "C05 · what is no percent-encoded UTF-8 is a 400, in the path and in the query",
    async () => {
      for (const bad of [
        "%",
        "%zz",
        "%4",
        "%ff",
        "%c0%ae",
        "%C0%80",
        "%e0%80%af",
        "%ed%a0%80",
        "%ed%b0%80",
        "%f4%90%80%80",
        "%f8%88%80%80%80",
        "%u0041",
        "%c3",
      ]) {
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
    },
  );

  await caseOf(
    "C06 · no other spelling of a path leads to a file or past the key: 404 or 400, with and without it",
    async () => {
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
    },
  );

  await caseOf(
    "C07 · every other method is a 405 that names the allowed ones, what is no method a 400, and TRACE echoes nothing",
    async () => {
      for (const { path } of operations)
        for (const target of [path, `/v1${path}`, `http://x${path}?${query}`]) {
          for (const method of [
            "PUT",
            "POST",
            "PATCH",
            "DELETE",
            "PROPFIND",
            "TRACE",
            "CONNECT",
            "QUERY",
          ]) {
            const answer = await ask(port, target, { key, method, headers: ["X-Secret: mirror"] });
            const { allowed } = assertProblem(answer, 405, "method-not-allowed");
            assert.deepEqual(allowed, ["GET", "HEAD", "OPTIONS"]);
            assert.doesNotMatch(answer.text, /mirror/);
          }
          for (const method of ["FOO", "get", "Get", "GETS", "G ET", ""])
            assertProblem(await ask(port, target, { key, method }), 400, "malformed-request");
        }
      assertProblem(
        await ask(port, "example.org:443", { method: "CONNECT" }),
        405,
        "method-not-allowed",
      );
      for (const headers of [["X-HTTP-Method-Override: DELETE"], ["X-Original-URL: /docs"]])
        assert.equal((await ask(port, `/fetch-gp?${query}`, { key, headers })).status, 200);
      await resetAfter("CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n");
    },
  );

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

  await caseOf("C11 · the host that is asked for stands in no header, link or body", async () => {
    for (const sent of [key, undefined])
      for (const path of [
        `/fetch-gp?${query}`,
        "/fetch-signals?limit=1&offset=1",
        "/fetch-gp",
        "/nowhere",
        "/%zz",
        "/",
        "/docs",
        "/openapi.json",
      ])
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
