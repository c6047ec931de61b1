import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants, getPriority } from "node:os";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** An import that reads a line it refuses. */
const importing = "import ndjson - --source own";

/** Starts a command, and calls this again and again until it has ended. */
async function watch(
  t: TestContext,
  command: string,
  dataDir: string,
  look: (pid: number) => void,
) {
  const child = spawn(process.execPath, ["bin/gp-records", ...command.split(" ")], {
    env: { PATH: process.env["PATH"], DATA_DIR: dataDir },
    stdio: ["pipe", "ignore", "ignore"],
  });
  t.after(() => child.kill("SIGKILL"));
  child.stdin.end("no record\n");
  const ended = once(child, "exit");
  while (child.exitCode === null) {
    look(child.pid!);
    await wait(1);
  }
  await ended;
}

for (const command of [importing, "datasets verify", "backup b.tar", "restore b.tar", "doctor"])
  test(`\`${command}\` lowers its CPU priority`, async (t) => {
    let lowest = getPriority();
    await watch(t, command, temporaryFolder(t), (pid) => (lowest = getPriority(pid)));
    assert.equal(lowest, constants.priority.PRIORITY_BELOW_NORMAL);
  });
