/** Loaded into a server that is watched: answers what cannot be seen from outside of its process. */
import { Session } from "node:inspector/promises";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { getHeapCodeStatistics, getHeapStatistics } from "node:v8";
import { isMainThread } from "node:worker_threads";
import type { InsideQuestion } from "./ask-inside.ts";
import type { InsideMemory } from "./profiles/memory.ts";

const delay = monitorEventLoopDelay({ resolution: 1 });
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

// Workers of the program load this file too.
if (isMainThread) {
  process.on("message", async (message: InsideQuestion | object) => {
    if (typeof message === "string") process.send!({ answer: await answers[message]() });
  });
  // The program ends as it would without us.
  process.channel!.unref();
}
