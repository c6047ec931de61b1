import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { constants, getPriority } from "node:os";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { coresOf } from "#datasets/priority.ts";
import { spawnServer } from "../support/server-process.ts";
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

const coresIn = (pid: number | "self") => coresOf(readFileSync(`/proc/${pid}/status`, "utf8"));

for (const command of [importing, "datasets verify", "backup b.tar", "restore b.tar", "doctor"])
  test(`\`${command}\` lowers its CPU priority`, async (t) => {
    let lowest = getPriority();
    await watch(t, command, temporaryFolder(t), (pid) => (lowest = getPriority(pid)));
    assert.equal(lowest, constants.priority.PRIORITY_BELOW_NORMAL);
  });

test(
  "an import leaves one core to the server of its data folder, and none without a server (Linux)",
  { skip: process.platform !== "linux" },
  async (t) => {
    const all = coresIn("self");
    const served = temporaryFolder(t);
    await spawnServer(t, { dataDir: served }).address;
    let used: number[] = [];
    const look = (pid: number) => (used = coresIn(pid));
    await watch(t, importing, temporaryFolder(t), look);
    assert.deepEqual(used, all);
    await watch(t, importing, served, look);
    assert.deepEqual(used, all.length === 1 ? all : all.slice(1));
  },
);
