import assert from "node:assert/strict";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { setTimeout } from "node:timers/promises";
import { readConfig } from "#config.ts";
import { drain } from "#http/connections.ts";
import { openHttpServer } from "../support/http-server.ts";
import { sendRaw } from "../support/raw-request.ts";

const brief = { headers: 60, request: 60, keepAlive: 60, checkEvery: 10, linger: 20 };

async function open(t: TestContext, port: number): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => {});
  t.after(() => socket.destroy());
  await once(socket, "connect");
  return socket;
}

/** Everything received until the server ends its side. */
async function readAll(socket: Socket): Promise<string> {
  let text = "";
  socket.on("data", (part) => (text += String(part)));
  await Promise.race([once(socket, "end"), once(socket, "close")]);
  return text;
}

const request = (id: number | string, path = "/health") =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nx-request-id: ${id}\r\n\r\n`;
const idsIn = (text: string) => [...text.matchAll(/^x-request-id: (.*)\r$/gm)].map(([, id]) => id);

test("requests sent ahead are all answered, in their order", async (t) => {
  const { port } = await openHttpServer(t);
  const ids = Array.from({ length: 1000 }, (_, i) => String(i));
  const { text } = await sendRaw(port, ids.map((id) => request(id)).join(""));
  assert.deepEqual(idsIn(text), ids);
});

test("a client that sends thousands of requests ahead holds up nobody else", async (t) => {
  const { port, log } = await openHttpServer(t);
  const greedy = await open(t, port);
  const other = await open(t, port);
  greedy.pause();
  greedy.write(request("greedy").repeat(5000));
  other.write(request("other"));
  await once(other, "data");
  const place = log.findIndex((line) => line.includes('"other"'));
  // Both are read in the same turn or the next; only a few of the five thousand are handled before.
  assert.ok(place < 50, `answered as number ${place}`);
});

test("of what a client sends ahead and does not read, one answer at a time is made", async (t) => {
  const { port, connections, log } = await openHttpServer(t);
  const socket = await open(t, port);
  socket.pause();
  const count = 2000;
  for (let i = 0; i < count; i++) socket.write(request(i, "/openapi.json"));
  socket.end();
  const connection = await firstOf(connections.open);
  // Until the system's buffers are full and a response is pending that nobody reads.
  while (connection.socket.writableLength === 0) await nextPoll();
  for (let turn = 0; turn < 20; turn++) await nextPoll();
  assert.ok(log.length < count, `${log.length} of ${count} answers were made`);
  assert.ok(connection.waiting.length > 0);
  socket.resume();
  const ids = idsIn(await readAll(socket));
  assert.equal(ids.length, count);
});

const nextPoll = () => new Promise((resolve) => setImmediate(resolve));

async function firstOf<V>(map: ReadonlyMap<unknown, V>): Promise<V> {
  for (;;) {
    for (const value of map.values()) return value;
    await nextPoll();
  }
}

test("a connection that sends nothing, half a request or form, or one line after the other is ended with a 408", async (t) => {
  const { port } = await openHttpServer(t, {}, brief);
  const silent = await open(t, port);
  const half = await open(t, port);
  half.write("GET /health HTTP/1.1\r\nHos");
  const form = await open(t, port);
  form.write("POST /account/sign-in HTTP/1.1\r\nHost: x\r\nContent-Length: 30\r\n\r\na=b");
  const dripping = await open(t, port);
  dripping.write("GET /health HTTP/1.1\r\n");
  const drip = setInterval(() => dripping.write("X-Line: 1\r\n"), 5);
  t.after(() => clearInterval(drip));
  for (const socket of [silent, half, form, dripping]) {
    const text = await readAll(socket);
    assert.match(text, /^HTTP\/1\.1 408 Request Timeout\r\n/);
    assert.match(text, /"code":"request-timeout"/);
    assert.match(text, /\r\nconnection: close\r\n/i);
  }
});

test("a connection is idle for so long after an answer, then it is closed", async (t) => {
  const { port } = await openHttpServer(t, {}, brief);
  const socket = await open(t, port);
  socket.write(request(1));
  assert.match(await readAll(socket), /^HTTP\/1\.1 200 OK\r\n/);
});

test("a client that leaves its side open after the end is let go", async (t) => {
  const { port, connections } = await openHttpServer(t, {}, brief);
  const faults = ["no request\r\n\r\n", "", "GET /health HTTP/1.1\r\nHos"];
  for (const fault of faults) {
    const socket = await open(t, port);
    if (fault !== "") socket.write(fault);
    await readAll(socket);
    assert.equal(socket.writable, true);
  }
  const left = [...connections.open.keys()].map((socket) => once(socket, "close"));
  await Promise.all(left);
  assert.equal(connections.open.size, 0);
});

test("a connection beyond CONNECTIONS_MAX is closed at once, and one more fits when one has gone", async (t) => {
  const config = readConfig({ CONNECTIONS_MAX: "2" });
  const { port, connections } = await openHttpServer(t, { config });
  const first = await open(t, port);
  await open(t, port);
  const third = await open(t, port);
  assert.equal(await readAll(third), "");
  assert.equal(connections.droppedCount(), 1);
  const gone = once([...connections.open.keys()][0]!, "close");
  first.destroy();
  await gone;
  const { status } = await sendRaw(port, request(4));
  assert.equal(status, 200);
});

test("what comes behind a request to close does not destroy the answers before it", async (t) => {
  const { port } = await openHttpServer(t);
  const bytes = `${request(1, "/openapi.json")}GET /openapi.json HTTP/1.1\r\nHost: x\r\nx-request-id: 2\r\nConnection: close\r\n\r\n${request(3).repeat(3000)}`;
  for (let round = 0; round < 20; round++) {
    const socket = await open(t, port);
    socket.pause();
    socket.write(bytes);
    // The server has responded, and has received much that it will never read, before the client reads anything.
    for (let turn = 0; turn < 50; turn++) await nextPoll();
    socket.resume();
    assert.deepEqual(idsIn(await readAll(socket)), ["1", "2"]);
    assert.equal(socket.errored, null);
    socket.destroy();
  }
});

/** Without a Host: its response is the last of the connection. */
const unreadable = "GET /health HTTP/1.1\r\n\r\n";

test("a connection is gone as soon as its client has closed, also where requests came behind the last answer", async (t) => {
  const { port, connections } = await openHttpServer(t, {}, { linger: 600_000 });
  for (const before of ["", request(1, "/openapi.json")]) {
    const socket = await open(t, port);
    socket.write(before + unreadable + request(3).repeat(3));
    assert.match(await readAll(socket), /HTTP\/1\.1 400 [^]*connection: close/i);
    socket.end();
    for (let polls = 0; connections.open.size > 0; polls++) {
      assert.ok(polls < 10_000, "the end of the client was not seen");
      await nextPoll();
    }
  }
});

test("of what comes behind the last answer hardly anything is parsed", async (t) => {
  const { port, server } = await openHttpServer(t);
  let parsed = 0;
  server.on("request", () => parsed++);
  for (const before of ["", request(1, "/openapi.json")]) {
    const socket = await open(t, port);
    const answers = readAll(socket);
    socket.write(before + unreadable);
    await answers;
    const sent = 100_000;
    socket.end(request(3).repeat(sent));
    await once(socket, "close");
    assert.ok(parsed < sent / 10, `${parsed} requests`);
  }
});

test("a server that drains waits for no client that asked to CONNECT before it had its answers", async (t) => {
  const accountWorker = () => new Promise<never>(() => {});
  const { port, connections, server } = await openHttpServer(t, { accountWorker });
  const socket = await open(t, port);
  socket.write(request(1, "/account") + "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n");
  await once(server, "connect");
  // `end` alone would leave the server's side open.
  t.after(() => socket.resetAndDestroy());
  const patience = new AbortController();
  const late = setTimeout(5000, "late", { signal: patience.signal }).catch(() => {});
  assert.equal(await Promise.race([drain(server, connections), late]), undefined);
  patience.abort();
});

test("however much follows a fault that waits for its turn, it is one fault", async (t) => {
  const accountWorker = () => new Promise<never>(() => {});
  const { port, connections, server } = await openHttpServer(t, { accountWorker });
  let asked: ServerResponse | undefined;
  server.on("request", (_request, response) => (asked = response));
  const socket = await open(t, port);
  const { socket: ours } = await firstOf(connections.open);
  const send = async (text: string) => {
    const arrived = ours.bytesRead + text.length;
    socket.write(text);
    while (ours.bytesRead < arrived) await nextPoll();
  };
  await send(request(1, "/account"));
  await send("no request\r\n\r\n");
  const waiting = asked!.listenerCount("finish");
  for (let i = 0; i < 20; i++) await send("more of it");
  assert.equal(asked!.listenerCount("finish"), waiting);
});
