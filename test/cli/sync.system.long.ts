import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { allCommands } from "../support/all-commands.ts";
import { mainPath, outcomeOf } from "../support/command-line.ts";
import { filing, firstFiles, laterFiles, quarterOf, secWorld } from "../support/fake-sec.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const preload = import.meta.resolve("../support/kill-at-change.ts");

/** A folder that was synced once, after which the server has a quarter that replaces two filings, and another feed. */
async function openWorld(t: TestContext, isFirst: boolean) {
  const { sec, folder } = await secWorld(t);
  const dataDir = temporaryFolder(t);
  const environment = { ...process.env, DATA_DIR: dataDir, CONTACT: "ops@example.com" };
  const args = ["sync", "sec", folder, "--origin", sec.origin, "--json"];
  const { json } = allCommands(dataDir, { CONTACT: "ops@example.com" }, sec.now, sec.wait);
  if (!isFirst) {
    await json("sync sec", folder, "--origin", sec.origin);
    sec.addQuarter("2026q2_d_0.zip", await quarterOf([filing(1), filing(4)]));
    sec.addFeed("11_21_2026");
  }
  const whole = isFirst ? firstFiles : laterFiles;
  /** Runs a sync to its end, and compares with what nobody killed would have. */
  const lookWell = async () => {
    sec.news();
    const command = [mainPath, ...args];
    const { exitCode, out, err } = await outcomeOf(process.execPath, command, environment);
    assert.equal(exitCode, 0, err);
    const found = readdirSync(join(folder, "downloads"), { recursive: true, encoding: "utf8" });
    assert.deepEqual(found.filter((name) => name !== "filings").toSorted(), whole);
    const asked = sec.news();
    assert.equal(new Set(asked).size, asked.length);
    const { version } = await json("datasets show");
    assert.equal((await json("import sec", folder)).outcome, "unchanged");
    assert.equal((await json("datasets show")).version, version);
    return JSON.parse(out).downloads.files as number;
  };
  return { sec, folder, dataDir, environment, args, lookWell };
}

for (const [isFirst, moments] of [
  [true, [0, 3, 8]],
  [false, [0, 1, 3]],
] as const)
  for (const at of moments)
    test(`a ${isFirst ? "first" : "later"} sync killed before change ${at} of its downloads is whole after the next`, async (t) => {
      const { args, environment, lookWell } = await openWorld(t, isFirst);
      const command = ["--import", preload, mainPath, ...args];
      const killed = { ...environment, KILL_AT: String(at), KILL_IN: "downloads" };
      const { exitCode, err } = await outcomeOf(process.execPath, command, killed);
      assert.deepEqual([exitCode, err], [null, ""]);
      const fetched = await lookWell();
      if (isFirst) assert.equal(fetched, firstFiles.length - at);
    });

for (const file of [
  "2026q1_d.zip",
  "ADV_Filing_Data_20260701_20260731.zip",
  "form.20260701.idx",
  `${filing(2)}.txt`,
])
  test(`a sync killed in the middle of ${file} is whole after the next`, async (t) => {
    const { sec, args, environment, lookWell } = await openWorld(t, true);
    const child = spawn(process.execPath, [mainPath, ...args], {
      env: environment,
      stdio: "ignore",
    });
    const ended = once(child, "exit");
    sec.behave((path) => {
      if (!path.endsWith(file)) return undefined;
      return { isCut: true, onHalf: () => child.kill("SIGKILL") };
    });
    assert.deepEqual(await ended, [null, "SIGKILL"]);
    sec.behave(() => {});
    await lookWell();
  });
