/** The worker that loads a generation, so that the HTTP thread is not blocked. */
import { parentPort, workerData } from "node:worker_threads";
import type { Generation } from "./generation.ts";
import { loadGeneration } from "./served.ts";
import { lowerOwnPriority } from "./priority.ts";
import { buffersIn } from "./stored-arrays.ts";

export interface LoadOrder {
  path: string;
  generation: Generation;
}

export interface Loading extends LoadOrder {
  /** True if another dataset is served meanwhile. Its requests need the CPU, so the load gets a lower priority. */
  isTakeover: boolean;
}

const { path, generation, isTakeover } = workerData as Loading;
if (isTakeover) lowerOwnPriority();
const parts = loadGeneration(path, generation);
// The parts' memory is transferred, not copied.
parentPort!.postMessage(parts, buffersIn(parts));
// The reply transfers the memory of the dataset served before. It is freed when this thread ends.
parentPort!.once("message", () => parentPort!.close());
