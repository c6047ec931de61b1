import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { getHeapStatistics } from "node:v8";
import pino from "pino";
import { readConfig } from "#config.ts";
import { watchConnections, slowReaderBounds, watchSlowReaders } from "#http/connections.ts";
import { lookEveryMilliseconds, startOverloadGuard } from "#http/overload.ts";
import { openRequestMetrics } from "#http/record-requests.ts";
import { openCommitBarrier } from "#http/send-answer.ts";
import { exposition } from "#metrics/metric.ts";
import { processMetrics } from "#metrics/process-metrics.ts";
import { openHttpServer } from "../support/http-server.ts";
import { listenFor } from "../support/ports.ts";

/** A guard whose clock and memory a test sets. */
function openGuard(t: TestContext, delayMaxMilliseconds: number, memoryMaxBytes: number) {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const clock = { now: 1000 };
  const memory = { rss: 0, heapUsed: 0 };
  const told: string[] = [];
  const config = {
    ...readConfig({}),
    eventLoopDelayMaxMilliseconds: delayMaxMilliseconds,
    memoryMaxBytes,
  };
  const log = pino({ base: null }, { write: (line) => void told.push(JSON.parse(line).msg) });
  const guard = startOverloadGuard(config, log, { now: () => clock.now, memory: () => memory });
  /** Measures after a turn that was this much too long. */
  const lookAfter = (lateness: number) => {
    clock.now += lookEveryMilliseconds + lateness;
    t.mock.timers.tick(lookEveryMilliseconds);
    return guard.cause;
  };
  return { memory, told, lookAfter };
}

test("work is refused while one long turn follows another, and no longer: one pause, however long, is no overload", (t) => {
  const { lookAfter } = openGuard(t, 1000, 0);
  assert.equal(lookAfter(1001), null);
  assert.equal(lookAfter(1001), "event_loop_delay");
  assert.equal(lookAfter(5000), "event_loop_delay");
  assert.equal(lookAfter(0), null);
  for (const lateness of [1000, 1000, 3_600_000, 0, 2000, 999, 2000, 0])
    assert.equal(lookAfter(lateness), null);
});

test("work is refused while the process takes too much memory, or its heap is nearly full; a bound of 0 is none", (t) => {
  const { memory, lookAfter } = openGuard(t, 0, 1000);
  memory.rss = 1000;
  assert.equal(lookAfter(0), null);
  memory.rss = 1001;
  assert.equal(lookAfter(0), "memory");
  memory.rss = 10;
  assert.equal(lookAfter(0), null);
  memory.heapUsed = getHeapStatistics().heap_size_limit * 0.95;
  assert.equal(lookAfter(0), "memory");
  t.mock.timers.reset();
  const { memory: endless, lookAfter: lookWithout } = openGuard(t, 0, 0);
  endless.rss = endless.heapUsed = Number.MAX_SAFE_INTEGER;
  for (const lateness of [60_000, 60_000, 60_000]) assert.equal(lookWithout(lateness), null);
});

test("the log hears once of an overload that comes and goes, and once that it is over", (t) => {
  const { lookAfter, told } = openGuard(t, 1000, 0);
  for (let i = 0; i < 5; i++) for (const lateness of [2000, 2000, 0]) lookAfter(lateness);
  assert.deepEqual(told, ["the service is overloaded and refuses requests"]);
  for (let i = 0; i < 100; i++) lookAfter(0);
  assert.deepEqual(told, [
    "the service is overloaded and refuses requests",
    "the service is no longer overloaded and answers requests again",
  ]);
});

test("while overloaded, requests with a key and unknown paths are a 503 before anything of them is looked at", async (t) => {
  const metrics = openRequestMetrics();
  const { get } = await openHttpServer(t, {
    metrics,
    overload: { cause: "memory" },
    counters: {
      take() {
        throw new Error("counted");
      },
      look() {
        throw new Error("looked at");
      },
    },
  });
  for (const path of ["/fetch-gp?gp_name=kkr", "/v1/fetch-signals?limit=0", "/nowhere"]) {
    const { status, headers, body } = await get(path);
    assert.equal(status, 503, path);
    assert.deepEqual([body.code, body.reason, body.retry_after], ["unavailable", "overloaded", 1]);
    assert.equal(headers.get("retry-after"), "1");
    assert.equal(headers.get("ratelimit"), null);
  }
  assert.match(exposition(metrics.metrics), /overload_refusals_total\{cause="memory"\} 3\n/);
});

test("while overloaded, health and public documents are answered", async (t) => {
  const { get } = await openHttpServer(t, { overload: { cause: "event_loop_delay" } });
  for (const path of ["/health", "/ready", "/openapi.json"])
    assert.equal((await get(path)).status, 200, path);
});

test("where no file can be opened to read the memory from, the guard and the metrics go on without it", (t) => {
  const noFile = () => {
    throw Object.assign(new Error("too many open files"), { code: "EMFILE" });
  };
  t.mock.timers.enable({ apis: ["setInterval"] });
  t.mock.method(process.memoryUsage, "rss", noFile);
  const guard = startOverloadGuard(readConfig({}), pino({ enabled: false }));
  t.mock.timers.tick(lookEveryMilliseconds);
  assert.equal(guard.cause, null);
  guard.close();
  t.mock.method(process, "memoryUsage", noFile);
  const text = exposition(processMetrics());
  assert.match(text, /^process_cpu_seconds_total /m);
  assert.doesNotMatch(text, /^process_resident_memory_bytes /m);
});

test("the counts of one turn are committed once, before any of its responses is sent", async () => {
  const happened: string[] = [];
  const send = (what: string) => {
    happened.push(what);
    if (what === "b") afterCommit("c");
  };
  const afterCommit = openCommitBarrier(() => void happened.push("committed"), send);
  afterCommit("a");
  afterCommit("b");
  assert.deepEqual(happened, []);
  await setImmediate();
  assert.deepEqual(happened, ["committed", "a", "b"]);
  await setImmediate();
  assert.deepEqual(happened, ["committed", "a", "b", "committed", "c"]);
});

/** More than the system buffers for a connection that nobody reads. */
const page = Buffer.alloc(24 * 1024 * 1024, "x");
const { patienceMilliseconds, bytesMin } = slowReaderBounds;

/** A server with one connection on which `page` was asked for and is stuck, and a clock that a test sets. */
async function openStuck(t: TestContext) {
  let answer: ServerResponse | undefined;
  const server = createServer();
  const give: RequestListener = (_request, response) => {
    answer = response;
    response.end(page);
  };
  const connections = watchConnections(server, give, () => null, 2000);
  const port = await listenFor(t, server);
  const clock = { now: 0 };
  const look = watchSlowReaders(connections, () => clock.now);
  const client = connect(port, "127.0.0.1");
  t.after(() => client.destroy());
  const seen = { bytes: 0, isReset: false };
  client.on("data", (part: Buffer) => (seen.bytes += part.length));
  client.on("error", () => (seen.isReset = true));
  client.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  await once(client, "data");
  client.pause();
  await settled(client);
  look();
  const pass = (milliseconds: number) => {
    clock.now += milliseconds;
    look();
  };
  const cuts = () => [...connections.cut.samples()].reduce((sum, { value }) => sum + value, 0);
  return { client, seen, cuts, pass, open: connections.open, answer: answer! };
}

/** Resolves once what was in transit has arrived. */
async function settled(client: Socket): Promise<void> {
  for (let last = -1; last !== client.bytesRead;) {
    last = client.bytesRead;
    for (let turn = 0; turn < 50; turn++) await setImmediate();
  }
}

async function read(client: Socket, bytes: number): Promise<void> {
  const end = client.bytesRead + bytes;
  client.resume();
  while (client.bytesRead < end) await once(client, "data");
  client.pause();
  await settled(client);
}

test("a client that reads too little to ever come to the end is cut, too", async (t) => {
  const { client, cuts, pass } = await openStuck(t);
  for (let second = 0; second < 60; second++) {
    client.read(1);
    pass(1000);
  }
  assert.equal(cuts(), 1);
});

test("a client that reads slowly, but reads, gets the whole answer", async (t) => {
  const { client, seen, cuts, pass, answer } = await openStuck(t);
  // The system acknowledges reads in its own portions, so more is read than necessary.
  for (let round = 0; round < 4; round++) {
    await read(client, 100 * bytesMin);
    pass(patienceMilliseconds - 1);
  }
  client.resume();
  await once(answer, "close");
  while (seen.bytes < page.length) await once(client, "data");
  assert.equal(cuts(), 0);
});

test("a connection that owes nothing is left alone, however long it is open", async (t) => {
  const { client, cuts, pass, answer, open } = await openStuck(t);
  client.resume();
  await once(answer, "close");
  for (let round = 0; round < 3; round++) pass(patienceMilliseconds);
  assert.equal(cuts(), 0);
  assert.equal(open.size, 1);
});
