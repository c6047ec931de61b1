import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import type { Encoding } from "#importers/encoding.ts";
import { readBytes, refuseUnreadable } from "#importers/source-file.ts";
import { asOrdinaryUser } from "../support/machine.ts";
import { faultOf, writtenFile } from "./written-file.ts";

test("every file that cannot be read is named at once, before any is read", (t) => {
  const there = writtenFile(t, "a.csv", "Id");
  const none = join(dirname(there), "none.csv");
  assert.throws(() => refuseUnreadable([there, none, tmpdir(), "-"]), {
    message: `${none}: there is no such file; check the path\n  ${tmpdir()}: is a folder; name the files in it`,
  });
  refuseUnreadable([there, "-", "/dev/null"]);
});

test("a file this user may not read is named", async (t) => {
  const file = writtenFile(t, "a.csv", "Id");
  chmodSync(file, 0o000);
  chmodSync(dirname(file), 0o755);
  await asOrdinaryUser(() =>
    assert.throws(
      () => refuseUnreadable([file]),
      /a\.csv: cannot be read by this user; give the user read access$/,
    ),
  );
});

test("a pipe is not opened before it is read", (t) => {
  const file = writtenFile(t, "a.csv", "Id,Name\n");
  const pipe = join(dirname(file), "pipe");
  execFileSync("mkfifo", [pipe]);
  // Opening a pipe that has no writer would never return.
  refuseUnreadable([file, pipe]);
});

const others: [what: string, encoding: Encoding, content: string | Uint8Array, reason: RegExp][] = [
  ["UTF-16", "utf-8", Buffer.from("\uFEFFId,Name\n", "utf16le"), /UTF-16; save it as UTF-8$/],
  ["big-endian", "utf-8", Buffer.from([0xfe, 0xff, 0, 0x49]), /UTF-16; save it as UTF-8$/],
  [
    "UTF-8",
    "windows-1252",
    "\uFEFFId",
    /mark of UTF-8, so it is not windows-1252; add --encoding utf-8$/,
  ],
  [
    "UTF-8",
    "iso-8859-1",
    "\uFEFFId",
    /mark of UTF-8, so it is not iso-8859-1; add --encoding utf-8$/,
  ],
];
for (const [what, encoding, content, reason] of others)
  test(`a ${what} file is refused as a whole by what it is, and not read as ${encoding}`, async (t) => {
    const file = writtenFile(t, "file", content);
    const { message } = await faultOf(Array.fromAsync(readBytes(file, encoding)));
    assert.ok(message.startsWith(`${file}: `), message);
    assert.match(message, reason);
  });

test("the byte order mark is left out and everything else is kept", async (t) => {
  const chunks = await Array.fromAsync(readBytes(writtenFile(t, "file", "\uFEFFa\uFEFF")));
  assert.equal(Buffer.concat(chunks).toString(), "a\uFEFF");
});

test("a folder is refused by name", async () => {
  const fault = await faultOf(Array.fromAsync(readBytes(tmpdir())));
  assert.match(fault.message, /: is a folder; name the files in it$/);
});
