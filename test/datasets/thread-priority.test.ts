import assert from "node:assert/strict";
import { once } from "node:events";
import { constants, getPriority } from "node:os";
import { test } from "node:test";
import { Worker } from "node:worker_threads";

test(
  "a thread can lower its own CPU priority, and no other thread's (Linux)",
  { skip: process.platform !== "linux" },
  async () => {
    const before = getPriority(process.pid);
    const script = `
      const { parentPort } = require("node:worker_threads");
      import("${import.meta.resolve("#datasets/priority.ts")}").then(({ lowerOwnPriority }) => {
        lowerOwnPriority();
        parentPort.postMessage(require("node:os").getPriority(0));
      });`;
    const [itsPriority] = await once(new Worker(script, { eval: true }), "message");
    assert.equal(itsPriority, constants.priority.PRIORITY_BELOW_NORMAL);
    assert.equal(getPriority(process.pid), before);
  },
);
