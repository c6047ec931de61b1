import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { text } from "node:stream/consumers";
import { exitCodes } from "#cli/command-fault.ts";
import { mainPath } from "../support/command-line.ts";
import { envelope } from "../support/mcp.ts";
import { startService } from "../support/service.ts";

/** A process of `gp-records mcp` that is given these lines. */
async function bridge(environment: Record<string, string>, lines: readonly string[]) {
  const child = spawn(process.execPath, [mainPath, "mcp"], {
    env: { PATH: process.env["PATH"], ...environment },
    stdio: "pipe",
  });
  child.stdin.end(lines.map((line) => `${line}\n`).join(""));
  const [out, err, exitCode] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.on("close", resolve)),
  ]);
  const answers = out
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
  return { answers: answers.toSorted((one, other) => one.id - other.id), err, exitCode };
}

test("the bridge passes an agent's session on, and every line that comes back is an answer to it", async (t) => {
  const { url, key } = await startService(t);
  const lines = readFileSync("examples/agent-session.ndjson", "utf8").trimEnd().split("\n");
  const { answers, err, exitCode } = await bridge(
    { GP_RECORDS_URL: `${url}/`, GP_RECORDS_KEY: key },
    lines,
  );
  assert.deepEqual([err, exitCode], ["", 0]);
  assert.deepEqual(
    answers.map(({ id }) => id),
    [1, 2, 3, 4, 5, 6],
  );
  const [initialized, listed, ...called] = answers;
  assert.equal(initialized.result.serverInfo.name, "gp-records");
  assert.equal(listed.result.tools.length, 9);
  for (const { result } of called) {
    assert.notEqual(result.isError, true, JSON.stringify(result.content));
    assert.ok(result.structuredContent.pagination.total >= 0);
  }
});

test("messages of the revision of 2026-07-28 pass through it, too, and any letters in them", async (t) => {
  const { url, key } = await startService(t);
  const call = (id: number, gp_name: string) =>
    JSON.stringify({
      jsonrpc: "2.0",
      id,
      method: "tools/call",
      params: { name: "fetch_gp", arguments: { gp_name }, _meta: envelope },
    });
  const { answers } = await bridge({ GP_RECORDS_URL: `${url}/mcp`, GP_RECORDS_KEY: key }, [
    call(1, "société\u2028générale"),
    call(2, "northwind"),
  ]);
  assert.equal(answers[0].result.resultType, "complete");
  assert.equal(answers[1].result.structuredContent.data.length, 1);
});

test("what the service refuses, or nobody answers, is an error of each message that waits for one, without the key", async (t) => {
  const { url, newKey } = await startService(t);
  const { key } = await newKey({ expiresAt: Date.parse("2026-01-01") });
  const ask = [
    '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    '{"jsonrpc":"2.0","method":"x"}',
    "",
    "{",
  ];
  const refused = await bridge({ GP_RECORDS_URL: url, GP_RECORDS_KEY: key }, ask);
  assert.equal(refused.answers.length, 1);
  assert.match(refused.answers[0].error.message, /^The API key has expired\. /);
  assert.ok(!JSON.stringify(refused).includes(key));
  const away = await bridge({ GP_RECORDS_URL: "http://127.0.0.1:1", GP_RECORDS_KEY: key }, ask);
  assert.match(away.answers[0].error.message, /^http:\/\/127\.0\.0\.1:1 cannot be reached: /);
  assert.equal(away.exitCode, 0);
});

test("a batch is refused as over HTTP, with an error for each message in it that waits, or for none, and stderr says which line", async (t) => {
  const { url, key } = await startService(t);
  const ping = (id: number) => ({ jsonrpc: "2.0", id, method: "ping" });
  const notification = { jsonrpc: "2.0", method: "notifications/initialized" };
  const { answers, err, exitCode } = await bridge({ GP_RECORDS_URL: url, GP_RECORDS_KEY: key }, [
    JSON.stringify(ping(1)),
    "",
    JSON.stringify([ping(2), notification, null, ping(3)]),
    JSON.stringify([notification]),
    "[",
    "[]",
    JSON.stringify(ping(4)),
  ]);
  const refusal = {
    code: -32_000,
    message:
      "The request could not be read. The body is an array; send one message of JSON-RPC a request.",
  };
  assert.deepEqual(
    answers.map(({ id, error = null }) => [id, error]),
    [
      [null, refusal],
      [null, refusal],
      [1, null],
      [2, refusal],
      [3, refusal],
      [4, null],
    ],
  );
  assert.equal(
    err,
    [3, 4, 6]
      .map(
        (line) =>
          `error: line ${line} of standard input is an array of messages, which the service refuses: send one message a line.\n`,
      )
      .join(""),
  );
  assert.equal(exitCode, 0);
});

test("the key follows no redirect to another place", async (t) => {
  const seen: (string | string[] | undefined)[] = [];
  const other = await listen(t, (headers) => void seen.push(headers["x-api-key"]));
  const one = await listen(t, () => {}, `${other}/mcp`);
  const { answers } = await bridge({ GP_RECORDS_URL: one, GP_RECORDS_KEY: "gpr_secret" }, [
    '{"jsonrpc":"2.0","id":1,"method":"ping"}',
  ]);
  assert.match(answers[0].error.message, /cannot be reached/);
  assert.deepEqual(seen, []);
});

async function listen(
  t: TestContext,
  onRequest: (headers: NodeJS.Dict<string | string[]>) => void,
  location?: string,
): Promise<string> {
  const server = createServer((request, response) => {
    onRequest(request.headers);
    response.writeHead(
      location === undefined ? 200 : 307,
      location === undefined ? {} : { location },
    );
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("without address or key, or with a key that cannot be sent, it says which setting is wrong", async () => {
  for (const [environment, words] of [
    [{ GP_RECORDS_KEY: "x" }, /^error: GP_RECORDS_URL must be the address/],
    [{ GP_RECORDS_URL: "records.example", GP_RECORDS_KEY: "x" }, /^error: GP_RECORDS_URL must be/],
    [{ GP_RECORDS_URL: "https://records.example" }, /^error: GP_RECORDS_KEY is not set/],
    [
      { GP_RECORDS_URL: "https://records.example", GP_RECORDS_KEY: "gpr_secret\nof two lines" },
      /^error: GP_RECORDS_KEY holds a character(?!.*secret)/,
    ],
  ] as const) {
    const { err, exitCode } = await bridge(environment, []);
    assert.match(err, words);
    assert.equal(exitCode, exitCodes.usage);
  }
});
