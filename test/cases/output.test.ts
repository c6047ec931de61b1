import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { makeKey } from "#keys/api-key.ts";
import { seededRandom } from "../support/awkward/random.ts";
import { startOwnProcess } from "../support/own-process.ts";
import { canConnect, freePort } from "../support/ports.ts";
import { ask } from "../support/raw-client.ts";
import { spawnServer } from "../support/server-process.ts";
import { casesOf, settles } from "../support/still-well.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const escapes = '\u001b[31m \u009b1;1H %0d%0a%1b[0m \\r\\n\\u001b {"level":60}';

test("what is kept of a request", async (t) => {
  const server = await startOwnProcess(t);
  const { port, key, dataDir } = server;
  const stranger = makeKey();
  const cookie = "session=kept-by-the-browser-alone";
  const secrets = [key.slice(8), stranger.slice(8), "kept-by-the-browser", "cGFzczp3b3Jk"];
  const assertNone = (text: string, where: string) => {
    for (const secret of secrets) assert.equal(text.includes(secret), false, where);
  };

  const it = casesOf(t, server);

  await it("C103 · of four hundred mixed requests with secrets in every place no log, error or stored file holds one, and each log line is one JSON object", async () => {
    const random = seededRandom(103);
    const places = [key, stranger, key.replace("_", "%5F"), `${stranger}x`];
    for (let i = 0; i < 400; i++) {
      const secret = random.pick(places);
      const target = random.pick([
        "/fetch-gp?gp_name=kkr",
        `/fetch-gp?gp_name=kkr&key=${secret}`,
        `/fetch-gp?${secret}=${secret}&limit=${secret}`,
        `/v1/fetch-signals?tag=${secret}%zz`,
        `/${secret}`,
        `/fetch-gp/${secret}?x=${secret}`,
        `/%zz${secret}`,
        `http://${secret}:${secret}@x/nowhere`,
        `/fetch-projects?limit=0#${secret}`,
        `/docs?${"x".repeat(8200)}${secret}`,
      ]);
      const answer = await ask(port, target, {
        method: random.pick(["GET", "GET", "HEAD", "POST", "OPTIONS", "CONNECT", "FOO"]),
        key: random.pick([key, stranger, `${key}${key}`, undefined]),
        headers: [
          `User-Agent: ${escapes}${secret}`,
          `Authorization: Basic cGFzczp3b3Jk`,
          `Cookie: ${cookie}; key=${secret}`,
          `Referer: http://x/?k=${secret}`,
          `X-Request-Id: ${random.pick([secret, `a${secret}`, escapes, "fit"])}`,
          `Accept: ${random.pick(["*/*", secret, "application/json"])}`,
          `If-None-Match: "${secret}"`,
          ...(random.chance(0.1) ? [`Expect: ${secret}`] : []),
          ...(random.chance(0.1) ? [`Content-Length: ${secret}`] : []),
        ],
      });
      if (answer.status >= 400) assertNone(answer.text, `${answer.status} ${target}`);
    }
    await ask(port, "/health", { headers: ["X-Request-Id: the-last-one"] });
    await settles(() => server.log().includes("the-last-one"));
    const lines = server.log().trimEnd().split("\n");
    const logged = lines.filter((line) => !line.startsWith("gp-records answers at "));
    assert.equal(lines.length - logged.length, 1);
    assert.ok(logged.length > 400);
    for (const line of logged) assert.equal(typeof JSON.parse(line).level, "number");
    assertNone(server.log(), "the log");
  });

  await it("C106 · a closed output changes nothing for those who ask", async () => {
    server.stdout.destroy();
    for (let i = 0; i < 100; i++)
      assert.equal((await ask(port, "/fetch-gp?gp_name=kkr", { key })).status, 200);
  });

  server.signal("SIGTERM");
  assert.deepEqual(await server.ended, { exitCode: 0, signal: null });
  assertNone(server.err(), "standard error");
  for (const name of globSync("**/*", { cwd: dataDir })) {
    const file = join(dataDir, name);
    if (statSync(file).isFile()) assertNone(readFileSync(file, "latin1"), name);
  }
});

test("C106 · an output on a full disk changes nothing for those who ask, and is told at the end", async (t) => {
  if (!existsSync("/dev/full")) return t.skip("there is no /dev/full here");
  const port = await freePort();
  const under = ["sh", "-c", 'exec "$@" >/dev/full', "sh"];
  const settings = { PORT: String(port) };
  const server = spawnServer(t, { dataDir: temporaryFolder(t), under, settings });
  // It says no address, and rejects if it ends.
  while (!(await canConnect("127.0.0.1", port)))
    await Promise.race([setTimeout(10), server.address]);
  for (let i = 0; i < 50; i++) assert.equal((await ask(port, "/health")).status, 200);
  server.signal("SIGTERM");
  await assert.rejects(server.address);
  assert.deepEqual(await server.ended, { exitCode: 1, signal: null });
  assert.match(server.err(), /^error: The output could not be written: ENOSPC[^\n]+\n$/);
});
