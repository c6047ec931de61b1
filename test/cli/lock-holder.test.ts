import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { forgetHolder, noteHolder, readHolder } from "#datasets/folder-store.ts";
import { noon } from "../support/control.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test("a note says which process holds the lock and since when, until it is taken back", (t) => {
  const path = join(temporaryFolder(t), "import.holder");
  assert.equal(readHolder(path), null);
  noteHolder(path, noon);
  assert.deepEqual(readHolder(path), { pid: process.pid, since: "2026-11-21T12:00:00Z" });
  forgetHolder(path);
  assert.equal(existsSync(path), false);
});

test("a note of a process that is gone, or that is cut off, names nobody", (t) => {
  const path = join(temporaryFolder(t), "import.holder");
  const { pid } = spawnSync(process.execPath, ["--version"]);
  for (const text of [JSON.stringify({ pid, since: "2026-11-21T12:00:00Z" }), "", "{"]) {
    writeFileSync(path, text);
    assert.equal(readHolder(path), null, text);
  }
});

test("where the note cannot be written nothing happens", (t) => {
  const path = join(temporaryFolder(t), "none", "import.holder");
  noteHolder(path, noon);
  assert.equal(readHolder(path), null);
});
