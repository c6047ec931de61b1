import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type Content, decodeHeader, encodeHeader, readTar, writeTar } from "#backups/tar.ts";
import { noon } from "../support/control.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const contents = {
  "manifest.json": "{}\n",
  "datasets/20261120T030000Z-9f3c2a7e.sqlite": "x".repeat(5000),
  "datasets/current": "20261120T030000Z-9f3c2a7e\n",
  "a-whole-block": "y".repeat(512),
  empty: "",
};

const sha256 = (content: string | Buffer) => createHash("sha256").update(content).digest("hex");

const fileOf = (path: string, text: string): Content => ({
  path,
  bytes: Buffer.byteLength(text),
  sha256: sha256(text),
  async *read() {
    for (let start = 0; start < text.length; start += 700)
      yield Buffer.from(text.slice(start, start + 700));
  },
});

const files = Object.entries(contents).map(([path, text]) => fileOf(path, text));

async function archive(of: readonly Content[] = files): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const told = await writeTar(of, noon, async (piece) => void pieces.push(piece));
  const bytes = Buffer.concat(pieces);
  assert.deepEqual(told, { bytes: bytes.length, sha256: sha256(bytes) });
  return bytes;
}

async function* inPieces(bytes: Buffer, size: number) {
  for (let start = 0; start < bytes.length; start += size)
    yield bytes.subarray(start, start + size);
}

async function readAll(source: AsyncIterable<Buffer>): Promise<Record<string, string>> {
  const reader = readTar(source);
  const found: Record<string, string> = {};
  for (let entry = await reader.next(); entry !== null; entry = await reader.next())
    found[entry.path] = Buffer.concat(await Array.fromAsync(reader.content())).toString();
  return found;
}

test("what is written is read again, in pieces of any size, and the SHA-256 and the size that are told are its own", async () => {
  const bytes = await archive();
  for (const size of [1, 511, 512, 513, 100_000])
    assert.deepEqual(await readAll(inPieces(bytes, size)), contents, `${size}`);
});

test("the tar of the system unpacks it, for its owner alone", async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, "backup.tar"), await archive());
  execFileSync("tar", ["-xf", "backup.tar"], { cwd: folder });
  for (const [path, text] of Object.entries(contents)) {
    assert.equal(readFileSync(join(folder, path), "utf8"), text);
    assert.equal(statSync(join(folder, path)).mode & 0o777, 0o600);
  }
  assert.equal(readdirSync(join(folder, "datasets")).length, 2);
});

test("an archive that was cut off anywhere is not read as a whole one", async () => {
  const bytes = await archive();
  // The second of the two blocks of zeros at the end tells nothing that the first did not.
  for (let length = 0; length <= bytes.length - 1024; length += 97)
    await assert.rejects(readAll(inPieces(bytes.subarray(0, length), 1000)), /it was cut off/);
});

test("a file that is not what the manifest will say of it is refused while it is written", async () => {
  const [first] = files;
  for (const wrong of [{ sha256: sha256("other") }, { bytes: first!.bytes + 1 }])
    await assert.rejects(
      archive([{ ...first!, ...wrong }]),
      /manifest\.json changed while it was being backed up/,
    );
});

test("sizes of any number of bytes are kept", () => {
  for (const bytes of [0, 1, 8 ** 11 - 1, 8 ** 11, 2 ** 40 + 7]) {
    const entry = { path: "datasets/large", bytes };
    assert.deepEqual(decodeHeader(encodeHeader(entry, 0)), entry);
  }
});

test("a header with any byte damaged is no header", () => {
  const header = encodeHeader({ path: "control.sqlite", bytes: 49_152 }, noon / 1000);
  for (let place = 0; place < header.length; place++) {
    const damaged = Buffer.from(header);
    damaged[place]! ^= 1;
    // The two bytes behind the sum itself say nothing.
    if (place === 154 || place === 155) continue;
    assert.throws(() => decodeHeader(damaged), /not a tar header/, `${place}`);
  }
});

test("links, folders and devices in an archive are refused by name", () => {
  const header = encodeHeader({ path: "datasets/current", bytes: 0 }, 0);
  header.write("2", 156);
  const sum = header.reduce((a, b, place) => a + (place >= 148 && place < 156 ? 0x20 : b), 0);
  header.write(sum.toString(8).padStart(6, "0"), 148);
  assert.throws(() => decodeHeader(header), /'datasets\/current' in it is not a plain file/);
});
