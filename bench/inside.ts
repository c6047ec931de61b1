/** Loaded into a server that is watched: answers what cannot be seen from outside of its process. */
import { Session } from "node:inspector/promises";
import { monitorEventLoopDelay, type PerformanceEntry, PerformanceObserver } from "node:perf_hooks";
import { getHeapCodeStatistics, getHeapStatistics } from "node:v8";
import { isMainThread, threadId, type Worker } from "node:worker_threads";
import { machineMilliseconds } from "./machine.ts";
import type { Collection } from "./profiles/beside-import.ts";
import type { InsideMemory } from "./profiles/memory.ts";
import type { InsideQuestion } from "./servers.ts";

const delay = monitorEventLoopDelay({ resolution: 1 });
const collections: Collection[] = [];
const observer = new PerformanceObserver((list) => enterCollections(list.getEntries()));
const session = new Session();
const samplingMicroseconds = 200;
const threads = new BroadcastChannel("gp-records-bench");
const workers = new Set<Worker>();

const answers: Record<InsideQuestion, () => unknown> = {
  async beginProfile() {
    session.connect();
    await session.post("Profiler.enable");
    await session.post("Profiler.setSamplingInterval", { interval: samplingMicroseconds });
    await session.post("Profiler.start");
  },
  async endProfile() {
    const { profile } = await session.post("Profiler.stop");
    session.disconnect();
    return profile;
  },
  beginDelay() {
    delay.reset();
    delay.enable();
  },
  endDelay() {
    delay.disable();
    return delay.max / 1e6;
  },
  processor() {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
  beginCollections() {
    collections.length = 0;
    observer.observe({ entryTypes: ["gc"] });
  },
  endCollections() {
    enterCollections(observer.takeRecords());
    observer.disconnect();
    return collections;
  },
  memory: () => process.memoryUsage.rss(),
  memoryParts(): InsideMemory {
    // Sources that Node carries in its binary count as external memory, but lie in the file.
    const { external_script_source_size: sources } = getHeapCodeStatistics();
    return {
      heap: getHeapStatistics().total_physical_size,
      arrays: process.memoryUsage().external - sources,
    };
  },
  async heldMemory() {
    const ofWorkers = Promise.all([...workers].map(heldBytesOf));
    threads.postMessage("collect");
    return (await ofWorkers).reduce((sum, bytes) => sum + bytes, heldBytes());
  },
};

/** Heap in use and buffers beside it, after a collection. */
function heldBytes(): number {
  globalThis.gc!({ type: "major", execution: "sync" });
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** The answer of a worker to `collect`; 0 if it ends instead. */
function heldBytesOf(worker: Worker): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const { threadId: id } = worker;
  const hear = ({ data }: { data: { threadId: number; bytes: number } }) => {
    if (data.threadId === id) resolve(data.bytes);
  };
  const end = () => resolve(0);
  threads.addEventListener("message", hear);
  worker.once("exit", end);
  return promise.finally(() => {
    threads.removeEventListener("message", hear);
    worker.off("exit", end);
  });
}

function enterCollections(entries: readonly PerformanceEntry[]): void {
  const machineStart = machineMilliseconds() - performance.now();
  for (const { startTime, duration } of entries)
    collections.push({ begunAt: machineStart + startTime, milliseconds: duration });
}

// The program ends as it would without us.
(threads as unknown as { unref(): void }).unref();

// Workers of the program load this file too.
if (isMainThread) {
  process.on("worker", (worker) => {
    workers.add(worker);
    worker.once("exit", () => workers.delete(worker));
  });
  process.on("message", async (message: InsideQuestion | object) => {
    if (typeof message === "string") process.send!({ answer: await answers[message]() });
  });
  process.channel!.unref();
} else
  threads.addEventListener("message", ({ data }) => {
    if (data === "collect") threads.postMessage({ threadId, bytes: heldBytes() });
  });
