/** Worker that publishes the second dataset of a demo while the first one is served. */
import { workerData } from "node:worker_threads";
import { lowerOwnPriority } from "#datasets/priority.ts";
import { demoSize } from "#demo/invent.ts";
import { type DemoPlace, publishSecond } from "./demo.ts";

lowerOwnPriority();
await publishSecond(workerData as DemoPlace, Date.now(), demoSize);
