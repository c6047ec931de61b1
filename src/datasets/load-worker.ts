/** The worker that reads a generation, so that the HTTP thread never waits for it. */
import { parentPort, workerData } from "node:worker_threads";
import type { Generation } from "./catalogue.ts";
import { loadGeneration } from "./load.ts";

export interface LoadOrder {
  path: string;
  generation: Generation;
}

const { path, generation } = workerData as LoadOrder;
parentPort!.postMessage(loadGeneration(path, generation));
