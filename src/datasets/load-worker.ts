/** The worker that reads a generation, so that the HTTP thread is not blocked. */
import { parentPort, workerData } from "node:worker_threads";
import type { Generation } from "./generation.ts";
import { loadGeneration } from "./load.ts";
import { lowerOwnPriority } from "./priority.ts";
import { arraysIn } from "./stored-arrays.ts";

export interface LoadOrder {
  path: string;
  generation: Generation;
}

export interface Loading extends LoadOrder {
  /** Is another dataset being served meanwhile, whose requests need the CPU? */
  isTakeover: boolean;
}

const { path, generation, isTakeover } = workerData as Loading;
if (isTakeover) lowerOwnPriority();
const parts = loadGeneration(path, generation);
// Transferred, not copied. V8 accounts for this memory, so it is freed soon after the next takeover.
parentPort!.postMessage(parts, [
  ...new Set(Array.from(arraysIn(parts), ({ bytes }) => bytes.buffer)),
]);
