/** Loaded into a server that is watched: answers what cannot be seen from outside of its process. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { getHeapCodeStatistics } from "node:v8";
import { isMainThread, threadId, type Worker } from "node:worker_threads";
import type { InsideQuestion } from "./servers.ts";

const delay = monitorEventLoopDelay({ resolution: 1 });
const threads = new BroadcastChannel("gp-records-bench");
const workers = new Set<Worker>();

const askAgainMilliseconds = 500;

const answers: Record<InsideQuestion, () => number | Promise<number>> = {
  beginDelay() {
    delay.reset();
    delay.enable();
    return 0;
  },
  endDelay() {
    delay.disable();
    return delay.max / 1e6;
  },
  arrays() {
    // Sources that Node carries in its binary count as external memory, but lie in the file.
    const { external_script_source_size: sources } = getHeapCodeStatistics();
    return process.memoryUsage().external - sources;
  },
  async heldMemory() {
    const ofWorkers = Promise.all([...workers].map(heldBytesOf));
    const collect = () => threads.postMessage("collect");
    collect();
    // A worker that is only starting does not listen yet.
    const again = setInterval(collect, askAgainMilliseconds);
    const bytes = await ofWorkers;
    clearInterval(again);
    return bytes.reduce((sum, one) => sum + one, heldBytes());
  },
};

/** Heap in use and buffers beside it, after a collection, without compiled code: V8 compiles the same source for a long time. */
function heldBytes(): number {
  // As if memory had run out: what is merely kept at hand is given back, too.
  globalThis.gc!({ type: "major", execution: "sync", flavor: "last-resort" });
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external - getHeapCodeStatistics().code_and_metadata_size;
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
