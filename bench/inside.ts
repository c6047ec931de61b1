/** Loaded into a server that is watched: answers what cannot be seen from outside of its process. */
import { Session } from "node:inspector/promises";
import { monitorEventLoopDelay, type PerformanceEntry, PerformanceObserver } from "node:perf_hooks";
import { getHeapCodeStatistics, getHeapStatistics } from "node:v8";
import { isMainThread } from "node:worker_threads";
import { machineMilliseconds } from "./machine.ts";
import type { Collection } from "./profiles/beside-import.ts";
import type { InsideMemory } from "./profiles/memory.ts";
import type { InsideQuestion } from "./servers.ts";

const delay = monitorEventLoopDelay({ resolution: 1 });
const collections: Collection[] = [];
const observer = new PerformanceObserver((list) => enterCollections(list.getEntries()));
const session = new Session();
const samplingMicroseconds = 200;

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
};

function enterCollections(entries: readonly PerformanceEntry[]): void {
  const machineStart = machineMilliseconds() - performance.now();
  for (const { startTime, duration } of entries)
    collections.push({ begunAt: machineStart + startTime, milliseconds: duration });
}

// Workers of the program load this file too.
if (isMainThread) {
  process.on("message", async (message: InsideQuestion | object) => {
    if (typeof message === "string") process.send!({ answer: await answers[message]() });
  });
  // The program ends as it would without us.
  process.channel!.unref();
}
