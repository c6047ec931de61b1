import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { syncBuiltinESMExports } from "node:module";
import { test } from "node:test";
import threads from "node:worker_threads";
import { startFollowing } from "#datasets/follow-shared.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test("a follower that cannot be started again is told once, and started later", async (t) => {
  const started: EventEmitter[] = [];
  let isRefused = false;
  const mock = t.mock.method(threads, "Worker", function () {
    if (isRefused) throw new Error("EAGAIN");
    const worker = Object.assign(new EventEmitter(), { threadId: -1, postMessage() {} });
    started.push(worker);
    return worker;
  });
  syncBuiltinESMExports();
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const faults: (string | undefined)[] = [];
  const follower = startFollowing({
    url: "",
    folder: temporaryFolder(t),
    fetchesPinned: false,
    program: "",
    onPointed() {},
    onFault: (fault) => void faults.push(fault?.message),
    now: () => 0,
  });
  isRefused = true;
  started[0]!.emit("exit");
  for (let tried = 0; tried < 3; tried++) t.mock.timers.tick(1000);
  isRefused = false;
  t.mock.timers.tick(1000);
  mock.mock.restore();
  syncBuiltinESMExports();
  assert.deepEqual([faults, started.length], [["EAGAIN"], 2]);
  await follower.close();
});
