import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { watchConnections, slowReaderBounds, watchSlowReaders } from "#http/connections.ts";

/** More than the system buffers for a connection that nobody reads. */
const page = Buffer.alloc(24 * 1024 * 1024, "x");
const { patienceMilliseconds, bytesMin } = slowReaderBounds;

/** A server with one connection on which `page` was asked for and is stuck, and a clock that a test sets. */
async function openStuck(t: TestContext) {
  let answer: ServerResponse | undefined;
  const server = createServer((_request, response) => {
    answer = response;
    response.end(page);
  });
  const { open } = watchConnections(server, 2000);
  server.listen(0, "127.0.0.1");
  t.after(() => server.close().closeAllConnections());
  await once(server, "listening");
  const clock = { now: 0 };
  const slowReaders = watchSlowReaders(open, () => clock.now);
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  t.after(() => client.destroy());
  const seen = { bytes: 0, isReset: false };
  client.on("data", (part: Buffer) => (seen.bytes += part.length));
  client.on("error", () => (seen.isReset = true));
  client.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  await once(client, "data");
  client.pause();
  await settled(client);
  slowReaders.look();
  const pass = (milliseconds: number) => {
    clock.now += milliseconds;
    slowReaders.look();
  };
  return { client, seen, slowReaders, pass, open, answer: answer! };
}

/** Resolves once what was in transit has arrived. */
async function settled(client: Socket): Promise<void> {
  for (let last = -1; last !== client.bytesRead;) {
    last = client.bytesRead;
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
}

async function read(client: Socket, bytes: number): Promise<void> {
  const end = client.bytesRead + bytes;
  client.resume();
  while (client.bytesRead < end) await once(client, "data");
  client.pause();
  await settled(client);
}

test("a client that does not read its answer is cut when its time is over, and not before", async (t) => {
  const { client, seen, slowReaders, pass } = await openStuck(t);
  pass(patienceMilliseconds - 1);
  assert.equal(slowReaders.cutCount(), 0);
  pass(1);
  assert.equal(slowReaders.cutCount(), 1);
  client.resume();
  await new Promise((resolve) => client.once("close", resolve));
  assert.equal(seen.isReset, true);
  assert.ok(seen.bytes < page.length);
});

test("a client that reads too little to ever come to the end is cut, too", async (t) => {
  const { client, slowReaders, pass } = await openStuck(t);
  for (let second = 0; second < 60; second++) {
    client.read(1);
    pass(1000);
  }
  assert.equal(slowReaders.cutCount(), 1);
});

test("a client that reads slowly, but reads, gets the whole answer", async (t) => {
  const { client, seen, slowReaders, pass, answer } = await openStuck(t);
  // The system acknowledges reads in its own portions, so more is read than necessary.
  for (let round = 0; round < 4; round++) {
    await read(client, 100 * bytesMin);
    pass(patienceMilliseconds - 1);
  }
  client.resume();
  await once(answer, "close");
  while (seen.bytes < page.length) await once(client, "data");
  assert.equal(slowReaders.cutCount(), 0);
});

test("a connection that owes nothing is left alone, however long it is open", async (t) => {
  const { client, slowReaders, pass, answer, open } = await openStuck(t);
  client.resume();
  await once(answer, "close");
  for (let round = 0; round < 3; round++) pass(patienceMilliseconds);
  assert.equal(slowReaders.cutCount(), 0);
  assert.equal(open.size, 1);
});
