/** Loaded into a server that is watched: answers what cannot be seen from outside of its process. */
import { Session } from "node:inspector/promises";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";
import type { InsideQuestion } from "./ask-inside.ts";

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
};

// Workers of the program load this file too.
if (isMainThread) {
  process.on("message", async (message: InsideQuestion | object) => {
    if (typeof message === "string") process.send!({ answer: await answers[message]() });
  });
  // The program ends as it would without us.
  process.channel!.unref();
}
