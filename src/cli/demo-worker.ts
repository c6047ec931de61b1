/** Worker that publishes the second dataset of a demo while the first one is served. */
import { workerData } from "node:worker_threads";
import { lowerOwnPriority } from "#datasets/priority.ts";
import { demoSize } from "#demo/invent.ts";
import type { CliContext } from "./command.ts";
import { publishSecond } from "./demo.ts";

lowerOwnPriority();
const environment = workerData as CliContext["environment"];
await publishSecond({ environment, now: Date.now, print() {}, reportError() {} }, demoSize);
