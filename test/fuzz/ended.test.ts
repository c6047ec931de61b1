import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { serverLock } from "#doctor/locks.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test(
  "a fuzz run that is ended leaves neither its server nor its folder behind (Linux)",
  {
    skip: process.platform !== "linux",
  },
  async (t) => {
    const folder = temporaryFolder(t);
    const run = spawn(process.execPath, ["fuzz/main.ts", "--count", "100000", "--imports", "0"], {
      env: { PATH: process.env["PATH"], TMPDIR: folder },
      stdio: "ignore",
    });
    t.after(() => run.kill("SIGKILL"));
    const ended = once(run, "exit");
    const serverPid = () =>
      readdirSync(folder)
        .map((name) => serverLock(join(folder, name))?.holder?.pid)
        .find((pid) => pid !== undefined);
    while (serverPid() === undefined) await wait(10);
    const pid = serverPid()!;
    run.kill("SIGTERM");
    assert.deepEqual(await ended, [143, null]);
    assert.deepEqual(readdirSync(folder), []);
    while (isRunning(pid)) await wait(10);
  },
);

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
