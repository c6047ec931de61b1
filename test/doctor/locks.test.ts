import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { locks } from "#doctor/locks.ts";
import { StoreFault } from "#store/domain-error.ts";
import { takeLock } from "#store/lock.ts";
import { finding, look } from "../support/doctor.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const names = ["server.lock", "import.lock"];

test("a lock that was taken and released is no fault", async (t) => {
  const dataDir = temporaryFolder(t);
  for (const name of names) takeLock(join(dataDir, name), "busy").release();
  assert.equal((await finding("ok", locks, dataDir)).found, "no server runs; no import runs");
});

for (const name of names)
  test(`${name} that nobody can take is named, and the command that is named mends it`, async (t) => {
    const dataDir = temporaryFolder(t);
    const path = join(dataDir, name);
    writeFileSync(path, "4711\n");
    assert.throws(() => takeLock(path, "busy"), StoreFault);
    const { found, mend } = await finding("fail", locks, dataDir);
    assert.ok(found.startsWith(`${path} is not a lock that gp-records made, so no`), found);
    assert.match(mend, /^Stop every gp-records .*; it means nothing by itself\.$/);
    execFileSync("sh", ["-c", /rm [^;]+/.exec(mend)![0]]);
    takeLock(path, "busy").release();
    await finding("ok", locks, dataDir);
  });

test("a folder in place of a lock is named", async (t) => {
  const dataDir = temporaryFolder(t);
  for (const name of names) mkdirSync(join(dataDir, name));
  const found = await look(locks, dataDir);
  assert.equal(found.length, names.length);
  for (const one of found) {
    assert.match(one.found, /\.lock cannot be opened, so no/);
    assert.match(one.mend!, /this is a file/);
  }
});
