import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { callLines } from "#pages/snippets.ts";

/** Notes what it is asked and with which key, and gives an empty answer. */
async function listen(t: TestContext) {
  const asked: (readonly [target: string | undefined, key: unknown])[] = [];
  const server = createServer((request, response) => {
    asked.push([request.url, request.headers["x-api-key"]]);
    response.end('{"data":[],"pagination":{"total":0}}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => void server.close());
  return { asked, base: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const run = (command: string, ...args: string[]) =>
  new Promise<number | null>((resolve) =>
    spawn(command, args, {
      stdio: "ignore",
      timeout: 20_000,
      env: { PATH: process.env["PATH"], GP_RECORDS_KEY: key },
    }).once("close", resolve),
  );

const isThere = (command: string) => spawnSync(command, ["--version"]).status === 0;

const target = "/fetch-gp?gp_name=o%27brien+%22%26%24%28id%29&tag=a%2Cb&limit=5";
const key = `it's "a" $(key) \`of\` \\n mine`;

for (const [name, command, option, language] of [
  ["curl", "sh", "-c", "curl"],
  ["python3", "python3", "-c", "python"],
] as const)
  test(`the lines for ${name} send that call with that key, whatever both hold`, async (t) => {
    if (!isThere(name)) return t.skip(`skipped: no ${name}`);
    const { asked, base } = await listen(t);
    const lines = callLines({ base, target, key })[language];
    assert.equal(await run(command, option, lines), 0);
    assert.deepEqual(asked, [[target, key]]);
  });

test("the lines for TypeScript send that call with that key, whatever both hold", async (t) => {
  const { asked, base } = await listen(t);
  const { typescript } = callLines({ base, target, key });
  assert.equal(await run(process.execPath, "--input-type=module-typescript", "-e", typescript), 0);
  assert.deepEqual(asked, [[target, key]]);
});

test("without a key the lines hold a placeholder, and code never holds a key", () => {
  const base = "http://127.0.0.1:8080";
  const { curl, environment } = callLines({ base, target });
  for (const lines of [curl, environment]) assert.match(lines, /\bYOUR_KEY\b/);
  const { typescript, python } = callLines({ base, target, key });
  for (const lines of [typescript, python]) assert.ok(!lines.includes(key));
});
