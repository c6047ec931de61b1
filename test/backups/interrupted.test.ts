import assert from "node:assert/strict";
import fs, { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { finishRestore } from "#backups/restore-folders.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import { restoreLeftovers } from "#doctor/stores.ts";
import { takeLock } from "#store/lock.ts";
import { allCommands } from "../support/all-commands.ts";
import { outcomeOf } from "../support/command-line.ts";
import { importRecords } from "../support/dataset.ts";
import { finding } from "../support/doctor.ts";
import { backedUp, currentOf, keyStates, restore } from "./backed-up.ts";

const birch = { record: "gp", id: "birch", name: "Birch Partners" };

/** A backup, and a folder that has changed since: another key, another dataset, side files of a killed server. */
async function changedSince(t: TestContext) {
  const begun = await backedUp(t);
  const { dataDir, issue } = begun;
  const version = currentOf(dataDir);
  await issue("later");
  await importRecords(openCatalogue(join(dataDir, "datasets")), [birch]);
  mkdirSync(join(dataDir, "counts"));
  writeFileSync(join(dataDir, "counts", "00000001.counts"), "");
  return { ...begun, version, newer: currentOf(dataDir) };
}

const isOld = async (dataDir: string) => "later" in (await keyStates(dataDir));

/** Lets the process come to its end at the nth renaming from now on; what a kill leaves on the disk is the same. */
function endAtRename(n: number): { restore(): void } {
  const { renameSync } = fs;
  let left = n;
  fs.renameSync = (from, to) => {
    left -= 1;
    if (left === 0) throw new Error("killed");
    renameSync(from, to);
  };
  syncBuiltinESMExports();
  return {
    restore() {
      fs.renameSync = renameSync;
      syncBuiltinESMExports();
    },
  };
}

test("a restore that ends at any point leaves the folder as it was, or is finished by whoever comes next", async (t) => {
  const outcomes: string[] = [];
  for (let n = 1; outcomes.at(-1) !== "done"; n++) {
    const { dataDir, file, version, newer } = await changedSince(t);
    const end = endAtRename(n);
    const outcome = await restore(dataDir, file, { mayReplace: true }).then(
      () => "done",
      (error: Error) => error.message,
    );
    end.restore();
    finishRestore(dataDir);
    const old = await isOld(dataDir);
    outcomes.push(outcome === "done" ? outcome : old ? "old" : "new");
    assert.equal(currentOf(dataDir), old ? newer : version, `at ${n}`);
    await finding("ok", restoreLeftovers, dataDir);
    const replaced = readdirSync(dataDir).filter((name) => name.startsWith("replaced-"));
    assert.equal(replaced.length, old ? 0 : 1, `at ${n}`);
    if (!old) assert.equal(currentOf(join(dataDir, replaced[0]!)), newer);
  }
  // What decides comes first; then each of keys, usage, datasets and counts, and the folder kept aside.
  assert.deepEqual(outcomes, [
    "old",
    ...Array.from({ length: outcomes.length - 2 }, () => "new"),
    "done",
  ]);
  assert.ok(outcomes.length >= 9, outcomes.join(" "));
});

const killAtRename = (n: number) => `
  import fs from "node:fs";
  import { syncBuiltinESMExports } from "node:module";
  const { renameSync } = fs;
  let left = ${n};
  fs.renameSync = (...args) => {
    left -= 1;
    if (left === 0) process.kill(process.pid, "SIGKILL");
    renameSync(...args);
  };
  syncBuiltinESMExports();
`;

test("what a killed restore left is named, and the next command finishes it before it does its own work", async (t) => {
  const { dataDir, file, version } = await changedSince(t);
  const cliPath = new URL(import.meta.resolve("#cli/main.ts")).pathname;
  // Behind the decision, in the middle of the moves.
  const preload = `data:text/javascript,${encodeURIComponent(killAtRename(3))}`;
  const { exitCode } = await outcomeOf(
    process.execPath,
    ["--import", preload, cliPath, "restore", file, "--replace"],
    { ...process.env, DATA_DIR: dataDir },
  );
  assert.equal(exitCode, null);
  assert.ok(!existsSync(join(dataDir, "control.sqlite")));
  const { found, mend } = await finding("warn", restoreLeftovers, dataDir);
  assert.match(found, /is a restore that was killed while it put its files in place/);
  assert.match(mend, /gp-records datasets list/);
  const keys = await allCommands(dataDir).json("keys list");
  assert.deepEqual(keys.map(({ name }: { name: string }) => name).toSorted(), [
    "first",
    "second",
    "third",
  ]);
  assert.equal(currentOf(dataDir), version);
});

test("while a restore is putting its files in place no command reads half of them", async (t) => {
  const { dataDir, file } = await changedSince(t);
  const end = endAtRename(4);
  await restore(dataDir, file, { mayReplace: true }).catch(() => {});
  end.restore();
  const lock = takeLock(join(dataDir, "server.lock"), "busy");
  const { refusal } = allCommands(dataDir);
  for (const args of [["keys", "list"], ["datasets", "list"], ["serve"], ["backup", `${file}.2`]])
    assert.match(await refusal(5, ...args), /A server or a restore is running on/);
  lock.release();
});
