import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants, getPriority } from "node:os";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { temporaryFolder } from "../support/temporary-folder.ts";

test("an import leaves the processor to a server beside it", async (t) => {
  const child = spawn(
    process.execPath,
    ["bin/gp-records", "import", "ndjson", "-", "--source", "own"],
    { env: { DATA_DIR: temporaryFolder(t) }, stdio: ["pipe", "ignore", "pipe"] },
  );
  t.after(() => child.kill("SIGKILL"));
  // A line that is complained of shows that it has begun to read.
  child.stdin.write("no record\n");
  child.stdin.end();
  const ended = once(child, "exit");
  let lowest = getPriority(child.pid);
  while (child.exitCode === null && lowest !== constants.priority.PRIORITY_BELOW_NORMAL) {
    lowest = getPriority(child.pid);
    await new Promise(setImmediate);
  }
  assert.equal(lowest, constants.priority.PRIORITY_BELOW_NORMAL);
  await ended;
});

test(
  "a thread can leave the processor to the others of its process (Linux)",
  { skip: process.platform !== "linux" },
  async () => {
    const before = getPriority(process.pid);
    const script = `
      const { parentPort } = require("node:worker_threads");
      import("${import.meta.resolve("#datasets/stand-back.ts")}").then(({ standBackAlone }) => {
        standBackAlone();
        parentPort.postMessage(require("node:os").getPriority(0));
      });`;
    const [itsPriority] = await once(new Worker(script, { eval: true }), "message");
    assert.equal(itsPriority, constants.priority.PRIORITY_BELOW_NORMAL);
    assert.equal(getPriority(process.pid), before);
  },
);
