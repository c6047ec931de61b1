import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync, statSync } from "node:fs";
import { connect, createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { allCommands } from "../support/all-commands.ts";
import { listed } from "../support/awkward/words.ts";
import { startOwnProcess } from "../support/own-process.ts";
import { askOn } from "../support/persistent-clients.ts";
import { canConnect, listenFor } from "../support/ports.ts";
import { assertProblem } from "../support/problem-answer.ts";
import { ask, requestText } from "../support/raw-client.ts";
import { spawnServer, startServer } from "../support/server-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const path = "/fetch-gp?gp_name=kkr";

test("a first start", async (t) => {
  const dataDir = join(temporaryFolder(t), "new");
  const { port, url, signal, ended } = await startServer(t, { dataDir });
  const it = (name: string, run: () => Promise<void>) => t.test(name, run);

  await it("C99 · it listens on 127.0.0.1 alone, and makes no account, no key and nothing others can read", async () => {
    assert.equal(url, `http://127.0.0.1:${port}`);
    const others = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
    const hosts = others.map(({ address }) => address).filter((one) => !one.startsWith("fe80"));
    for (const host of new Set(["127.0.0.2", "::1", ...hosts]))
      assert.equal(await canConnect(host, port), host === "127.0.0.1", host);
    for (const what of ["accounts", "keys"])
      assert.deepEqual(await allCommands(dataDir).json(`${what} list`), []);
    for (const key of listed("demo test admin gpr_ gpr_R7mQ2xVb9TzK4pWn8LsJ3hYd6FgC1a2kDPFA"))
      assertProblem(await ask(port, path, { key }), 401, "api-key-invalid");
    assert.equal(statSync(dataDir).mode & 0o077, 0);
    for (const name of readdirSync(dataDir).filter((one) => one.includes(".sqlite")))
      assert.equal(statSync(join(dataDir, name)).mode & 0o077, 0, name);
  });

  await it("C100 · a second signal ends it at once, whatever is still to be sent", async () => {
    const socket = connect(port, "127.0.0.1").on("error", () => {});
    socket.pause();
    // Far more than the system keeps for a client that does not read.
    socket.write(requestText("/docs").repeat(200));
    await once(socket, "readable");
    signal("SIGTERM");
    while (await canConnect("127.0.0.1", port)) await setTimeout(5);
    let isOver = false;
    void ended.then(() => (isOver = true));
    // Within a second it is the same signal once more.
    for (; !isOver; await setTimeout(50)) signal("SIGTERM");
    assert.deepEqual(await ended, { exitCode: null, signal: "SIGTERM" });
    socket.destroy();
  });
});

test("C101 · a port in use, a wrong setting and an unknown option end it with a code and one line that says what to do", async (t) => {
  const port = await listenFor(t, createServer());
  const settings = { LOG_LEVEL: "silent" };
  const endings = [
    { settings: { ...settings, PORT: String(port) }, exitCode: 5, line: /:\d+ is in use .*PORT/ },
    { settings: { ...settings, PORT: "http" }, exitCode: 2, line: /PORT must be .*'http'/ },
    { settings, args: ["--demoo"], exitCode: 2, line: /unknown option '--demoo'/ },
  ];
  await Promise.all(
    endings.map(async ({ exitCode, line, ...order }) => {
      const server = spawnServer(t, { dataDir: temporaryFolder(t), ...order });
      await assert.rejects(server.address);
      assert.deepEqual(await server.ended, { exitCode, signal: null });
      assert.match(server.err(), /^error: [^\n]+\n$/);
      assert.match(server.err(), line);
      assert.equal(server.out(), "");
    }),
  );
});

test("C100 · told to stop under load it ends with 0, every answer that was begun arrives whole, and nobody new is let in", async (t) => {
  const { port, key, signal, ended, err } = await startOwnProcess(t);
  const path = "/fetch-gp?gp_name=northwind";
  const clients = askOn({ port, path, headers: { "x-api-key": key }, clients: 20 });
  await clients.answered(200);
  signal("SIGTERM");
  assert.deepEqual(await ended, { exitCode: 0, signal: null });
  const { statuses, failures } = await clients.end();
  assert.deepEqual(Object.keys(statuses), ["200"]);
  // Others came too late, or on a connection that was closing.
  for (const failure of failures) assert.doesNotMatch(failure, /cut off|somebody else/);
  assert.equal(await canConnect("127.0.0.1", port), false);
  assert.equal(err(), "");
});
