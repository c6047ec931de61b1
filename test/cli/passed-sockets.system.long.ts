import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { openSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { exitCodes } from "#cli/command-fault.ts";
import { passedSockets } from "#cli/serve.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import { cast } from "../support/cast.ts";
import { mainPath } from "../support/command-line.ts";
import { importRecords } from "../support/dataset.ts";
import { type HeldSocket, holdSocket } from "../support/ports.ts";
import { hasTool } from "../support/machine.ts";
import { newKey, roomy } from "../support/own-process.ts";
import { askOn } from "../support/persistent-clients.ts";
import { spawnServer } from "../support/server-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** A data folder with records and a key, and a socket that is held for the length of the test. */
async function folderAndSocket(t: TestContext) {
  const dataDir = temporaryFolder(t);
  await importRecords(openCatalogue(join(dataDir, "datasets")), cast);
  const headers = { "x-api-key": await newKey(dataDir, "roomy", roomy) };
  const socket = heldSocket(t);
  const start = () => spawnServer(t, { dataDir, sockets: [{ ...socket, name: "main" }] });
  return { dataDir, headers, socket, start, url: `http://127.0.0.1:${socket.port}` };
}

function heldSocket(t: TestContext): HeldSocket {
  const socket = holdSocket();
  t.after(() => socket.close());
  return socket;
}

const path = "/fetch-gp?gp_name=northwind";

test("restarted under load on a passed socket, no request fails and none is answered before the dataset is there", async (t) => {
  const { headers, socket, start } = await folderAndSocket(t);
  let server = start();
  await server.address;
  const clients = askOn({ port: socket.port, path, headers, clients: 8 });
  for (let restart = 0; restart < 3; restart++) {
    await clients.answered(200);
    server.signal("SIGTERM");
    assert.deepEqual(await server.ended, { exitCode: 0, signal: null }, server.err());
    server = start();
    await server.address;
  }
  await clients.answered(200);
  const { statuses, failures } = await clients.end();
  assert.deepEqual(failures, []);
  assert.deepEqual(Object.keys(statuses), ["200"]);
});

test("a connection made while no server runs waits in the socket, and the next server answers it", async (t) => {
  const { headers, socket, start, url } = await folderAndSocket(t);
  const first = start();
  assert.equal(await first.address, url);
  first.signal("SIGTERM");
  await first.ended;
  const waiting = connect(socket.port, "127.0.0.1");
  await once(waiting, "connect");
  waiting.destroy();
  const asked = fetch(url + path, { headers });
  const second = start();
  assert.equal((await asked).status, 200);
  assert.equal(await second.address, url);
});

test("where no dataset is published, a server on a passed socket says so", async (t) => {
  const socket = heldSocket(t);
  const server = spawnServer(t, {
    dataDir: temporaryFolder(t),
    sockets: [{ ...socket, name: "main" }],
  });
  const answer = await fetch(`${await server.address}/ready`);
  assert.equal(answer.status, 503);
  assert.equal(((await answer.json()) as { reason: string }).reason, "no_dataset");
});

test("the socket named admin serves the metrics, whatever ADMIN_ADDRESS says and in whatever order they come", async (t) => {
  for (const order of [0, 1]) {
    const [admin, main] = [heldSocket(t), heldSocket(t)];
    const sockets = [
      { ...admin, name: "admin" },
      { ...main, name: "gp-records.socket" },
    ];
    if (order === 1) sockets.reverse();
    const settings = { ADMIN_ADDRESS: "127.0.0.1:1" };
    const server = spawnServer(t, { dataDir: temporaryFolder(t), sockets, settings });
    assert.equal(await server.address, `http://127.0.0.1:${main.port}`);
    const metrics = await fetch(`http://127.0.0.1:${admin.port}/metrics`);
    assert.match(await metrics.text(), /^gp_records_connections_open /m);
  }
});

test("sockets that were passed to another process are left alone", () => {
  const environment = { LISTEN_PID: "7", LISTEN_FDS: "1" };
  assert.deepEqual(passedSockets(environment, 8), { main: null, admin: null });
  assert.deepEqual(passedSockets({}, 8), { main: null, admin: null });
  assert.deepEqual(passedSockets(environment, 7), { main: 3, admin: null });
  const alone = { ...environment, LISTEN_FDNAMES: "admin" };
  assert.deepEqual(passedSockets(alone, 7), { main: null, admin: 3 });
});

test("more sockets than are served are refused, and so is what is no socket of TCP", async (t) => {
  const three = { LISTEN_PID: "7", LISTEN_FDS: "3", LISTEN_FDNAMES: "a:admin:b" };
  assert.throws(() => passedSockets(three, 7), {
    exitCode: exitCodes.usage,
    message:
      /^LISTEN_FDS announces 2 sockets that are not named admin, but the API is served on only one\. Keep/,
  });
  const server = spawnServer(t, {
    dataDir: temporaryFolder(t),
    sockets: [{ fd: openSync("/dev/null", "r"), name: "main" }],
  });
  assert.deepEqual(await server.ended, { exitCode: exitCodes.usage, signal: null });
  assert.match(
    server.err(),
    /^error: Descriptor 3, which LISTEN_FDS announces, .*ListenStream= in the \.socket unit/,
  );
});

/** The server as systemd itself starts it, at the first connection. */
async function startedBySystemd(t: TestContext, listen: string, settings: object = {}) {
  const passedOn = ["DATA_DIR", ...Object.keys(settings)].flatMap((name) => ["-E", name]);
  const command = [process.execPath, mainPath, "serve"];
  const args = ["--listen", listen, "--fdname=main", ...passedOn, ...command];
  const child = spawn("systemd-socket-activate", args, {
    env: { PATH: process.env["PATH"], DATA_DIR: temporaryFolder(t), ...settings },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = once(child, "close");
  t.after(() => {
    child.kill("SIGKILL");
    return ended;
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  while (!/^Listening on /m.test(said)) await once(child.stderr, "data");
  return { ended, said: () => said };
}

test("a server that systemd's own socket activation starts answers, but no socket open to other machines while HOST says that only this one is served", async (t) => {
  if (!hasTool(t, "systemd-socket-activate", "systemd")) return;
  const free = holdSocket();
  free.close();
  const { ended, said } = await startedBySystemd(t, `0.0.0.0:${free.port}`);
  const asking = connect(free.port, "127.0.0.1").on("error", () => {});
  assert.deepEqual(await ended, [exitCodes.usage, null]);
  asking.destroy();
  assert.match(
    said(),
    /listens on 0\.0\.0\.0, but HOST is '127\.0\.0\.1'.* Set HOST to 0\.0\.0\.0/,
  );
  await startedBySystemd(t, `0.0.0.0:${free.port}`, { HOST: "0.0.0.0" });
  assert.equal((await fetch(`http://127.0.0.1:${free.port}/health`)).status, 200);
});
