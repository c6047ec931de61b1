import assert from "node:assert/strict";
import { test } from "node:test";
import { utf8OfUtf16 } from "#importers/source-file.ts";
import { faultOf } from "./written-file.ts";

/** The text of these bytes when they arrive so many at a time. */
async function textOf(bytes: Buffer, size: number): Promise<string> {
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  return Buffer.concat(await Array.fromAsync(utf8OfUtf16("a.csv", chunks()))).toString();
}

test("every character comes out whole, wherever the chunks are cut", async () => {
  const text = "Id,Name\r\n1,Café “Roy”\n2,𝔖𝔉 🏠\n";
  const bytes = Buffer.from(text, "utf16le");
  for (let size = 1; size <= bytes.length; size++) assert.equal(await textOf(bytes, size), text);
});

const damaged: [what: string, bytes: Buffer][] = [
  ["half a pair", Buffer.from("ab\nc\uD834d", "utf16le")],
  ["the second half alone", Buffer.from("\uDD1E", "utf16le")],
  ["half a pair at the end", Buffer.from("a\n\uD834", "utf16le")],
  ["half a character at the end", Buffer.from("a\nb", "utf16le").subarray(0, 5)],
];
for (const [what, bytes] of damaged)
  test(`${what} refuses the file, and is never another character`, async () => {
    for (const size of [1, 2, 3, 100]) {
      const { message } = await faultOf(textOf(bytes, size));
      assert.equal(message, "a.csv: is not UTF-16; it is damaged or cut off");
    }
  });
