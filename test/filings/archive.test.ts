import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { test, type TestContext } from "node:test";
import { archiveLimits, openArchive, unzippedOf } from "#filings/folder.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { entryAt, zipped } from "./zip.ts";

const small = { "2026Q2_d/ISSUERS.tsv": "a\tb\n".repeat(1000), "readme.htm": "<p>" };

/** Reads every member of an archive. */
async function readAll(t: TestContext, bytes: Uint8Array, limits = archiveLimits) {
  const path = join(temporaryFolder(t), "a.zip");
  writeFileSync(path, bytes);
  const archive = await openArchive(path, limits);
  t.after(() => archive.close());
  const texts: Record<string, string> = {};
  for (const { name, open } of archive.members) texts[name] = await textOf(open());
  return texts;
}

const refused = (t: TestContext, bytes: Uint8Array, message: RegExp, limits = archiveLimits) =>
  assert.rejects(readAll(t, bytes, limits), { name: "ImportFault", message });

test("an archive gives its members' bytes as they were", async (t) => {
  assert.deepEqual(await readAll(t, await zipped(small)), small);
});

test("files in which macOS keeps attributes are no members", async (t) => {
  const attributes = { "__MACOSX/2026Q2_d/._ISSUERS.tsv": "\0", "._readme.htm": "\0" };
  assert.deepEqual(await readAll(t, await zipped({ ...small, ...attributes })), small);
});

test("an error of the system is no damage, for which a sync would fetch the file again", async (t) => {
  const none = join(temporaryFolder(t), "none");
  await assert.rejects(openArchive(none), { code: "ENOENT" });
  await assert.rejects(unzippedOf(none).next(), { code: "ENOENT" });
});

test("an archive of too many bytes or members is refused by name before it is read", async (t) => {
  for (const [limit, words] of [
    [{ bytesMax: 4001 }, /a\.zip!readme\.htm: brings the archive to more than 4001 unzipped bytes/],
    [{ membersMax: 1 }, /is one of 2 members, but at most 1 are read/],
  ] as const)
    await refused(t, await zipped(small), words, { ...archiveLimits, ...limit });
});

test("members that share their zipped bytes are refused, though each alone is in proportion", async (t) => {
  const zip = await zipped({ "a.tsv": "x".repeat(900), "b.tsv": "y".repeat(900) });
  const limits = { ...archiveLimits, ratioFrom: 100, ratioMax: 4 };
  zip.writeUInt32LE(800, entryAt(zip, "a.tsv") + 20);
  zip.writeUInt32LE(800, entryAt(zip, "b.tsv") + 20);
  await refused(t, zip, /b\.tsv: unzips to more than 4 times/, limits);
});

test("a member whose size or checksum is not what the archive says is refused", async (t) => {
  const name = "2026Q2_d/ISSUERS.tsv";
  for (const [offset, change, words] of [
    [24, 1, /ISSUERS\.tsv: is damaged or cut off \(.*not enough bytes/],
    [16, 1, /ISSUERS\.tsv: is damaged or cut off \(.*checksum/],
  ] as const) {
    const zip = await zipped(small);
    const at = entryAt(zip, name) + offset;
    zip.writeUInt32LE((zip.readUInt32LE(at) + change) >>> 0, at);
    await refused(t, zip, words);
  }
  const broken = await zipped(small);
  broken.fill(0xff, 60, 70);
  await refused(t, broken, /ISSUERS\.tsv: is damaged or cut off/);
});

test("a member outside of the archive, in any spelling, and one that is there twice are refused by name", async (t) => {
  for (const outside of ["/tmp/aa.tsv", "..\\..\\a.tsv", "C:/temp/a.ts"]) {
    const zip = await zipped({ "0123456789a": "x" });
    const name = outside.padEnd(11, "x").slice(0, 11);
    const renamed = Buffer.from(zip.toString("latin1").replaceAll("0123456789a", name), "latin1");
    await refused(t, renamed, /a\.zip: has a member with a path outside the archive, "/);
  }
  const twice = Buffer.from(
    (await zipped({ aa: "1", bb: "2" })).toString("latin1").replaceAll("bb", "aa"),
    "latin1",
  );
  await refused(t, twice, /a\.zip!aa: is in the archive twice/);
});
