import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { knownBytes, refuseUnreadable } from "#importers/source-file.ts";
import { asOrdinaryUser } from "../support/ordinary-user.ts";
import { writtenFile } from "./written-file.ts";

test("every file that cannot be read is named at once, before any is read", (t) => {
  const there = writtenFile(t, "a.csv", "Id");
  const none = join(dirname(there), "none.csv");
  assert.throws(() => refuseUnreadable([there, none, tmpdir(), "-"]), {
    message: `${none}: there is no such file\n  ${tmpdir()}: is a folder, not a file`,
  });
  refuseUnreadable([there, "-", "/dev/null"]);
});

test("a file this user may not read is named", async (t) => {
  const file = writtenFile(t, "a.csv", "Id");
  chmodSync(file, 0o000);
  chmodSync(dirname(file), 0o755);
  await asOrdinaryUser(() =>
    assert.throws(() => refuseUnreadable([file]), /a\.csv: may not be read by this user$/),
  );
});

test("a pipe is not opened before it is read, and its size is not guessed", (t) => {
  const file = writtenFile(t, "a.csv", "Id,Name\n");
  const pipe = join(dirname(file), "pipe");
  execFileSync("mkfifo", [pipe]);
  // Opening a pipe that has no writer would never return.
  refuseUnreadable([file, pipe]);
  assert.equal(knownBytes([file, pipe, "-"]), 8);
});
