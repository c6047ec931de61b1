/** The worker that reads a generation, so that the HTTP thread never waits for it. */
import { parentPort, workerData } from "node:worker_threads";
import type { Generation } from "./catalogue.ts";
import { loadGeneration } from "./load.ts";
import { lowerOwnPriority } from "./priority.ts";
import { arraysIn } from "./stored-arrays.ts";

export interface LoadOrder {
  path: string;
  generation: Generation;
}

export interface Loading extends LoadOrder {
  /** Is another dataset served meanwhile, whose readers would wait for the processor? */
  isTakeover: boolean;
}

const { path, generation, isTakeover } = workerData as Loading;
if (isTakeover) lowerOwnPriority();
const parts = loadGeneration(path, generation);
// Given away, not copied; and memory that V8 knows of, so that it is freed soon after another dataset is current.
parentPort!.postMessage(parts, [
  ...new Set(Array.from(arraysIn(parts), ({ bytes }) => bytes.buffer)),
]);
