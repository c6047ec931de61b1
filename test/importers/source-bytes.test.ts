import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { readBytes } from "#importers/source-bytes.ts";
import { faultOf, writtenFile } from "./written-file.ts";

const others: [what: string, content: string | Uint8Array, reason: RegExp][] = [
  ["a gzip file", gzipSync("Id,Name\n"), /gzip; unpack it first/],
  ["a zip archive or spreadsheet", "PK\u0003\u0004rest", /zip archive or a spreadsheet/],
  ["a UTF-16 file", Buffer.from("\uFEFFId,Name\n", "utf16le"), /UTF-16; save it as UTF-8/],
  ["a web page", "\uFEFF\n<!DOCTYPE html><html><body>503</body></html>", /web page/],
];
for (const [what, content, reason] of others)
  test(`${what} is refused as a whole by what it is`, async (t) => {
    const fault = await faultOf(Array.fromAsync(readBytes(writtenFile(t, "file", content))));
    assert.match(fault.reason, reason);
    assert.equal(fault.line, null);
  });

test("the byte order mark is left out and everything else is kept", async (t) => {
  const chunks = await Array.fromAsync(readBytes(writtenFile(t, "file", "\uFEFFa\uFEFF")));
  assert.equal(Buffer.concat(chunks).toString(), "a\uFEFF");
});

test("a folder is refused by name", async () => {
  const fault = await faultOf(Array.fromAsync(readBytes(tmpdir())));
  assert.match(fault.message, /: is a folder, not a file$/);
});
