import assert from "node:assert/strict";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { readConfig } from "#config.ts";
import { type Connections, drain, waitingMax, connectionsMaxFor } from "#http/connections.ts";
import { openFairQueue, sharePerTurn } from "#http/build-server.ts";
import { openNetworkShares } from "#limits/client-network.ts";
import { openHttpServer } from "../support/http-server.ts";
import { sendRaw, statusesIn } from "../support/raw-client.ts";
import { startService } from "../support/service.ts";

const brief = { headers: 60, request: 60, keepAlive: 60, checkEvery: 10, linger: 20 };

async function open(t: TestContext, port: number): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => {});
  t.after(() => socket.destroy());
  await once(socket, "connect");
  return socket;
}

/** Resolves when all that are open now are closed. */
const allClosed = ({ open: all }: Connections) =>
  Promise.all([...all.keys()].map((socket) => once(socket, "close")));

/** Everything received until the server ends its side. */
async function readAll(socket: Socket): Promise<string> {
  let text = "";
  socket.on("data", (part) => (text += String(part)));
  await Promise.race([once(socket, "end"), once(socket, "close")]);
  return text;
}

const cutFor = ({ cut }: Connections, reason: string) =>
  [...cut.samples()].find(({ labels }) => labels?.["reason"] === reason)!.value;

const request = (id: number | string, path = "/health") =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nx-request-id: ${id}\r\n\r\n`;
const forwarded = (id: string, from: string) =>
  `GET /nowhere HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${from}\r\nx-request-id: ${id}\r\n\r\n`;
const idsIn = (text: string) => [...text.matchAll(/^x-request-id: (.*)\r$/gm)].map(([, id]) => id);

/** What a form begins with, but for its length. */
const formHead =
  "POST /account/sign-in HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n";
const echo = async ({ body }: { body: Uint8Array }) => ({ status: 200, headers: [], body });
const never = () => new Promise<never>(() => {});

test("sixteen requests sent ahead are all answered, in their order, again and again", async (t) => {
  const { port, connections } = await openHttpServer(t);
  const socket = await open(t, port);
  let text = "";
  socket.on("data", (part) => (text += String(part)));
  const ids = Array.from({ length: 20 * waitingMax }, (_, i) => String(i));
  for (let sent = 0; sent < ids.length;) {
    const next = ids.slice(sent, (sent += waitingMax));
    socket.write(next.map((id) => request(id)).join(""));
    while (idsIn(text).length < sent) await once(socket, "data");
  }
  assert.deepEqual(idsIn(text), ids);
  assert.equal(cutFor(connections, "overrun"), 0);
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
  let made = 0;
  // More than the system buffers for a connection that nobody reads.
  const body = "x".repeat(24 * 1024 * 1024);
  const accountWorker = async () => {
    made++;
    return { status: 200, headers: [], body };
  };
  const { port, connections } = await openHttpServer(t, { accountWorker });
  const socket = await open(t, port);
  socket.pause();
  socket.write(request(1, "/account").repeat(2) + request(2).repeat(14));
  const connection = await firstOf(connections.open);
  while (connection.socket.writableLength === 0) await nextTurn();
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  assert.equal(made, 1);
  assert.equal(connection.waiting.length, 15);
  socket.resume();
  socket.end();
  assert.equal(idsIn(await readAll(socket)).length, 16);
});

test("nothing is handled for clients that have left", async (t) => {
  let handled = 0;
  const accountWorker = () => {
    handled++;
    return new Promise<never>(() => {});
  };
  const { port, connections, server } = await openHttpServer(t, { accountWorker });
  const sockets = await Promise.all(Array.from({ length: 10 }, () => open(t, port)));
  while (connections.open.size < sockets.length) await nextTurn();
  let arrived = 0;
  const left = new Promise((resolve) => {
    server.on("request", () => {
      if (++arrived < sockets.length) return;
      const closed = [...connections.open.keys()].map((socket) => once(socket.destroy(), "close"));
      resolve(Promise.all(closed));
    });
  });
  // All arrive in one turn of the event loop, which handles the first two.
  for (const socket of sockets) socket.write(request(1, "/account").repeat(2));
  await left;
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  assert.ok(handled <= 2, `${handled} were handled`);
});

async function firstOf<V>(map: ReadonlyMap<unknown, V>): Promise<V> {
  for (;;) {
    for (const value of map.values()) return value;
    await nextTurn();
  }
}

test("a connection is idle for so long after an answer, then it is closed", async (t) => {
  const { port } = await openHttpServer(t, {}, brief);
  const socket = await open(t, port);
  socket.write(request(1));
  assert.match(await readAll(socket), /^HTTP\/1\.1 200 OK\r\n/);
  const ordinary = await openHttpServer(t);
  const { text } = await sendRaw(ordinary.port, request(2));
  assert.match(text, /\r\nKeep-Alive: timeout=10\r\n/);
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
  await allClosed(connections);
  assert.equal(connections.open.size, 0);
});

test("a connection beyond CONNECTIONS_MAX is closed at once, and one more fits when one has gone", async (t) => {
  const config = readConfig({ CONNECTIONS_MAX: "2" });
  const { port, connections } = await openHttpServer(t, { config });
  const first = await open(t, port);
  await open(t, port);
  const third = await open(t, port);
  assert.equal(await readAll(third), "");
  assert.equal(cutFor(connections, "limit"), 1);
  const gone = once([...connections.open.keys()][0]!, "close");
  first.destroy();
  await gone;
  const { status } = await sendRaw(port, request(4));
  assert.equal(status, 200);
});

/** What a fresh connection from this address gets. */
async function answerFrom(t: TestContext, port: number, localAddress: string): Promise<string> {
  const socket = connect({ port, host: "127.0.0.1", localAddress, allowHalfOpen: true });
  t.after(() => socket.destroy());
  socket.write(request(1));
  const text = await Promise.race([once(socket, "data").then(String), readAll(socket)]);
  return text.split("\r\n")[0]!;
}

test("one client network has no more connections than CONNECTIONS_PER_CLIENT_MAX, others have theirs", async (t) => {
  // Other systems have one loopback address.
  if (process.platform !== "linux") return t.skip();
  const config = readConfig({ CONNECTIONS_PER_CLIENT_MAX: "2" });
  const { port, connections } = await openHttpServer(t, { config });
  const first = await open(t, port);
  await open(t, port);
  assert.equal(await answerFrom(t, port, "127.0.0.1"), "");
  assert.equal(cutFor(connections, "client_limit"), 1);
  assert.equal(await answerFrom(t, port, "127.0.0.2"), "HTTP/1.1 200 OK");
  const gone = once([...connections.open.keys()][0]!, "close");
  first.destroy();
  await gone;
  assert.equal(await answerFrom(t, port, "127.0.0.1"), "HTTP/1.1 200 OK");
});

test("bodies that one network sends at a time are bounded, one beyond is a 503 and not read", async (t) => {
  const { port, connections } = await openHttpServer(t, { accountWorker: echo });
  const post = `${formHead}Content-Length: `;
  const slow: Socket[] = [];
  for (let i = 0; i < 32; i++) {
    const socket = await open(t, port);
    socket.write(`${post}65536\r\n\r\nhalf`);
    slow.push(socket);
  }
  const form = `${post}4\r\n\r\na=bc`;
  const refused = await open(t, port);
  refused.write(form + request(2).repeat(3));
  assert.deepEqual(statusesIn(await readAll(refused)), [503]);
  const gone = allClosed(connections);
  for (const socket of [...slow, refused]) socket.destroy();
  await gone;
  const admitted = await open(t, port);
  admitted.end(form + request(2).repeat(3));
  assert.deepEqual(statusesIn(await readAll(admitted)), [200, 200, 200, 200]);
});

test("a body that comes byte by byte is held in one piece, also while its request waits", async (t) => {
  const { port, server } = await openHttpServer(t, { accountWorker: echo });
  let held = 0;
  server.on("request", (request) =>
    request.on("data", () => (held = Math.max(held, request.readableLength))),
  );
  const lengths = { whole: 10_000, most: 65_536, more: 65_537 };
  const post = (coding: string) => `${formHead}${coding}\r\n\r\n`;
  for (const length of Object.values(lengths)) {
    const body = "1\r\nx\r\n".repeat(length);
    const { text } = await sendRaw(port, `${post("Transfer-Encoding: chunked")}${body}0\r\n\r\n`);
    assert.deepEqual(statusesIn(text), [length === lengths.more ? 413 : 200]);
    if (length !== lengths.more) assert.ok(text.endsWith("x".repeat(length)));
  }
  const socket = await open(t, port);
  const answer = readAll(socket);
  socket.write(post("Content-Length: 3\r\nConnection: close"));
  for (const byte of "a=b") {
    socket.write(byte);
    await nextTurn();
  }
  assert.match(await answer, /\r\n\r\na=b$/);
  // Node gives away what one read of 64 KiB has brought, and keeps nothing of it.
  assert.ok(held < 65_536 / "1\r\nx\r\n".length, `${held} bytes`);
});

test("bodies that were sent ahead are answered also if more requests come than may wait", async (t) => {
  const accountWorker = (request: { body: Uint8Array }) => nextTurn(request).then(echo);
  const { port } = await openHttpServer(t, { accountWorker });
  for (const form of [
    "Content-Length: 3\r\n\r\na=b",
    "Transfer-Encoding: chunked\r\n\r\n3\r\na=b\r\n0\r\n\r\n",
  ]) {
    const { text } = await sendRaw(port, (formHead + form).repeat(40));
    const statuses = statusesIn(text);
    assert.ok(statuses.length > waitingMax, text);
    assert.deepEqual(new Set(statuses), new Set([200]));
    assert.equal(text.split("\r\n\r\na=b").length - 1, statuses.length);
  }
});

test("bodies behind a request that is not answered count as long as their connections", async (t) => {
  const { port, connections } = await openHttpServer(t, { accountWorker: never });
  const post = "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: ";
  const message = `${post}2\r\nConnection: close\r\n\r\n{}`;
  const waiting: Socket[] = [];
  for (let i = 0; i < 16; i++) {
    const socket = await open(t, port);
    socket.write(`${request(1, "/account")}${post}65536\r\n\r\n${"x".repeat(10)}`);
    waiting.push(socket);
  }
  while (connections.open.size < 16) await nextTurn();
  for (const { socket } of connections.open.values())
    while (socket.bytesRead < 10) await nextTurn();
  const gone = allClosed(connections);
  for (const socket of waiting) socket.resetAndDestroy();
  // A paused connection does not see that its client has left.
  for (const socket of connections.open.keys()) socket.destroy();
  await gone;
  const { text } = await sendRaw(port, message);
  assert.deepEqual(statusesIn(text), [401]);
});

for (const [name, greedy, other] of [
  [
    "who asks for health does not wait for other requests from the same address",
    () => request("greedy", "/nowhere"),
    request("other"),
  ],
  [
    "the addresses of one IPv6 network share what one client gets in a turn",
    (i: number) => forwarded("greedy", `2001:db8:7:1::${i}`),
    forwarded("other", "192.0.2.1"),
  ],
] as const)
  test(name, async (t) => {
    const config = readConfig({ TRUSTED_PROXIES: "127.0.0.1" });
    const { port, log, connections } = await openHttpServer(t, { config });
    const sockets = await Promise.all(Array.from({ length: 101 }, () => open(t, port)));
    while (connections.open.size < sockets.length) await nextTurn();
    const last = sockets.pop()!;
    // All arrive in one turn of the event loop.
    for (const [i, socket] of sockets.entries()) socket.write(greedy(i));
    last.write(other);
    await once(last, "data");
    const place = log.findIndex((line) => line.includes('"other"'));
    assert.ok(place < 50, `answered as number ${place}`);
  });

test("the connections of a trusted proxy are not counted as those of one client", async (t) => {
  const settings = { CONNECTIONS_PER_CLIENT_MAX: "2", TRUSTED_PROXIES: "127.0.0.0/8" };
  const { port } = await openHttpServer(t, { config: readConfig(settings) });
  for (let i = 0; i < 5; i++)
    assert.equal(await answerFrom(t, port, "127.0.0.1"), "HTTP/1.1 200 OK");
});

test("what comes behind a request to close does not destroy the answers before it", async (t) => {
  const { port } = await openHttpServer(t);
  const bytes = `${request(1, "/openapi.json")}GET /openapi.json HTTP/1.1\r\nHost: x\r\nx-request-id: 2\r\nConnection: close\r\n\r\n${request(3).repeat(3000)}`;
  for (let round = 0; round < 20; round++) {
    const socket = await open(t, port);
    socket.pause();
    socket.write(bytes);
    // The server has responded, and has received much that it will never read, before the client reads anything.
    for (let turn = 0; turn < 50; turn++) await nextTurn();
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
      await nextTurn();
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
  const { port, connections, server } = await openHttpServer(t, { accountWorker: never });
  const socket = await open(t, port);
  let asked = 0;
  server.on("request", () => asked++);
  socket.write(request(1, "/account") + "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n");
  while (asked < 2) await nextTurn();
  // `end` alone would leave the server's side open.
  t.after(() => socket.resetAndDestroy());
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const drained = drain(server, connections);
  // So long it waits for answers that are still to come.
  t.mock.timers.tick(3000);
  await drained;
});

test("however much follows a fault that waits for its turn, it is one fault", async (t) => {
  const { port, connections, server } = await openHttpServer(t, { accountWorker: never });
  let asked: ServerResponse | undefined;
  server.on("request", (_request, response) => (asked = response));
  const socket = await open(t, port);
  const { socket: ours } = await firstOf(connections.open);
  const send = async (text: string) => {
    const arrived = ours.bytesRead + text.length;
    socket.write(text);
    while (ours.bytesRead < arrived) await nextTurn();
  };
  await send(request(1, "/account"));
  await send("no request\r\n\r\n");
  const waiting = asked!.listenerCount("finish");
  for (let i = 0; i < 20; i++) await send("more of it");
  assert.equal(asked!.listenerCount("finish"), waiting);
});

test("a network that leaves large answers unread gets no more of them, and others do", async (t) => {
  const body = Buffer.alloc(50 * 1024 * 1024);
  const { promise: asked, resolve: answer } = Promise.withResolvers<void>();
  const accountWorker = () => asked.then(() => ({ status: 200, headers: [], body }));
  const { port, connections } = await openHttpServer(t, { accountWorker });
  // Clients that leave before their answers are there hold nothing.
  for (let i = 0; i < 3; i++) {
    const socket = await open(t, port);
    socket.write(request(1, "/account"));
    while (!(await firstOf(connections.open)).isAnswering) await nextTurn();
    socket.resetAndDestroy();
    while (connections.open.size > 0) await nextTurn();
  }
  answer();
  const ask = async (localAddress = "127.0.0.1") => {
    const socket = connect({ port, host: "127.0.0.1", localAddress });
    t.after(() => socket.destroy());
    socket.write(request(1, "/account"));
    await once(socket, "readable");
    return { socket, status: String(socket.read(12)).slice(9) };
  };
  const [first] = [await ask(), await ask()];
  assert.deepEqual([(await ask()).status, (await ask("127.0.0.2")).status], ["503", "200"]);
  first.socket.destroy();
  while ((await ask()).status !== "200") await nextTurn();
});

test("connections leave files for everything else, and there is a most, also where the limit is none or unknown", () => {
  for (const [limit, connections] of [
    [1024, 921],
    [256, 156],
    [12_000, 10_800],
    [50, 1],
    [1_048_576, 20_000],
    [Number.POSITIVE_INFINITY, 20_000],
    [null, 8000],
  ] as const)
    assert.equal(connectionsMaxFor(limit), connections, String(limit));
});

test("a network has its share, an IPv6 site those of four networks, and what is given back is free again", () => {
  const shares = openNetworkShares(2);
  const takes = (address: string, amount = 1) => shares.take(address, amount) !== null;
  assert.ok(takes("192.0.2.1", 2));
  assert.ok(!takes("::ffff:192.0.2.1"));
  assert.ok(takes("192.0.2.2"));
  const giveBack = shares.take("2001:db8:7:1::1", 2)!;
  assert.ok(!takes("2001:db8:7:1::2"));
  for (const network of ["2", "3", "4"]) assert.ok(takes(`2001:db8:7:${network}::1`, 2));
  assert.ok(!takes("2001:db8:7:5::1"));
  assert.ok(takes("2001:db8:8:5::1"));
  giveBack();
  assert.ok(!takes("2001:db8:7:5::1", 3));
  assert.ok(takes("2001:db8:7:5::1", 2));
  assert.ok(!takes("2001:db8:7:6::1"));
});

test("a client gets its share at once and the rest in later turns, in order; another one waits for nobody", async () => {
  const queue = openFairQueue(3);
  const done: number[] = [];
  for (let i = 0; i < 8; i++) queue.enter("one", () => done.push(i));
  queue.enter("other", () => done.push(100));
  assert.deepEqual(done, [0, 1, 2, 100]);
  await nextTurn();
  assert.deepEqual(done, [0, 1, 2, 100, 3, 4, 5]);
  await nextTurn();
  assert.deepEqual(done, [0, 1, 2, 100, 3, 4, 5, 6, 7]);
});

test("what waited goes before what comes later, also when that comes first in a turn", async () => {
  const queue = openFairQueue(1);
  const done: string[] = [];
  for (const name of ["first", "second", "third"]) queue.enter(1, () => done.push(name));
  await nextTurn();
  queue.enter(1, () => done.push("late"));
  for (let turn = 0; turn < 4; turn++) await nextTurn();
  assert.deepEqual(done, ["first", "second", "third", "late"]);
});

test("a client on a hundred connections does not come before another one's first request", async (t) => {
  const service = await startService(t, { settings: { LOG_LEVEL: "info" } });
  const { key, id } = await service.newKey();
  const ask = (apiKey: string) =>
    `GET /fetch-projects?gp_name=kkr HTTP/1.1\r\nHost: x\r\nx-api-key: ${apiKey}\r\n\r\n`;
  const open = async () => {
    const socket = connect(service.port, "127.0.0.1");
    t.after(() => socket.destroy());
    // One connection is accepted per turn; a response shows that this one was.
    socket.write("GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
    await once(socket, "data");
    return socket;
  };
  const greedy = await Promise.all(Array.from({ length: 100 }, open));
  const other = await open();
  const answers = [...greedy, other].map((socket) => once(socket, "data"));
  for (const socket of greedy) socket.write(ask(service.key));
  other.write(ask(key));
  await Promise.all(answers);
  // The log is written once a turn.
  await nextTurn();
  const keys = service.log.flatMap((line) => JSON.parse(line).key ?? []);
  assert.equal(keys.length, 101);
  // All 101 are read in a turn or two; of the hundred, one share each is handled before the other client's.
  assert.ok(keys.indexOf(id) <= 6 * sharePerTurn, `answered as number ${keys.indexOf(id) + 1}`);
});
