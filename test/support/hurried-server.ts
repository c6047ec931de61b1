/**
 * Loaded into a server before anything else: its monotonic clock and its intervals go as many times as fast as HURRY says, so
 * that what takes minutes can be seen in a test. After SIGUSR2 one question fails by a fault of the program, and those that follow take 60 ms, until the next one.
 */
import { isMainThread } from "node:worker_threads";

const hurry = Number(process.env["HURRY"]);
const slowMilliseconds = 60;

const now = performance.now.bind(performance);
performance.now = () => now() * hurry;
const { setInterval: setUsualInterval } = globalThis;
globalThis.setInterval = ((work: () => void, milliseconds: number) =>
  setUsualInterval(work, milliseconds / hurry)) as typeof setInterval;

const { hrtime } = process;
let hasFailed = false;

function disturbed(...args: Parameters<typeof hrtime>): ReturnType<typeof hrtime> {
  if (!new Error().stack!.includes("api/ask.ts")) return hrtime(...args);
  if (!hasFailed) {
    hasFailed = true;
    throw new Error("a fault made by a test");
  }
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, slowMilliseconds);
  return hrtime(...args);
}

if (isMainThread)
  process.on("SIGUSR2", () => {
    const isUsual = process.hrtime === hrtime;
    process.hrtime = isUsual ? Object.assign(disturbed, { bigint: hrtime.bigint }) : hrtime;
  });
