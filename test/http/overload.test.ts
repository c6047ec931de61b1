import assert from "node:assert/strict";
import { test } from "node:test";
import { getHeapStatistics } from "node:v8";
import pino from "pino";
import { readConfig } from "#config.ts";
import {
  lookEveryMilliseconds,
  openOverloadGuard,
  type OverloadCause,
  startOverloadGuard,
} from "#http/overload.ts";
import { openRequestMetrics } from "#http/record-requests.ts";
import { exposition } from "#metrics/metric.ts";
import { processMetrics } from "#metrics/process-metrics.ts";
import { openHttpServer } from "../support/http-server.ts";

/** A guard whose clock and memory a test sets. */
function openGuard(delayMaxMilliseconds: number, memoryMaxBytes: number) {
  const clock = { now: 1000 };
  const memory = { rss: 0, heapUsed: 0 };
  const told: (OverloadCause | null)[] = [];
  const guard = openOverloadGuard(
    { delayMaxMilliseconds, memoryMaxBytes },
    { now: () => clock.now, memory: () => memory, onChange: (cause) => told.push(cause) },
  );
  /** Measures after a turn that was this much too long. */
  const lookAfter = (lateness: number) => {
    clock.now += lookEveryMilliseconds + lateness;
    guard.look();
    return guard.cause;
  };
  return { memory, told, lookAfter };
}

test("work is refused while one long turn follows another, and no longer", () => {
  const { lookAfter } = openGuard(1000, 0);
  assert.equal(lookAfter(1001), null);
  assert.equal(lookAfter(1001), "event_loop_delay");
  assert.equal(lookAfter(5000), "event_loop_delay");
  assert.equal(lookAfter(0), null);
  assert.equal(lookAfter(1000), null);
  assert.equal(lookAfter(1000), null);
});

test("one pause, however long, is no overload", () => {
  const { lookAfter } = openGuard(1000, 0);
  for (const lateness of [0, 3_600_000, 0, 2000, 999, 2000, 0])
    assert.equal(lookAfter(lateness), null);
});

test("work is refused while the process takes too much memory, or its heap is nearly full", () => {
  const { memory, lookAfter } = openGuard(0, 1000);
  memory.rss = 1000;
  assert.equal(lookAfter(0), null);
  memory.rss = 1001;
  assert.equal(lookAfter(0), "memory");
  memory.rss = 10;
  assert.equal(lookAfter(0), null);
  memory.heapUsed = getHeapStatistics().heap_size_limit * 0.95;
  assert.equal(lookAfter(0), "memory");
});

test("a bound of 0 is none", () => {
  const { memory, lookAfter } = openGuard(0, 0);
  memory.rss = memory.heapUsed = Number.MAX_SAFE_INTEGER;
  for (const lateness of [60_000, 60_000, 60_000]) assert.equal(lookAfter(lateness), null);
});

test("the log hears once of an overload that comes and goes, and once that it is over", () => {
  const { lookAfter, told } = openGuard(1000, 0);
  for (let i = 0; i < 5; i++) for (const lateness of [2000, 2000, 0]) lookAfter(lateness);
  assert.deepEqual(told, ["event_loop_delay"]);
  for (let i = 0; i < 100; i++) lookAfter(0);
  assert.deepEqual(told, ["event_loop_delay", null]);
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
