/** Archives written for a test. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { ZipFile } from "yazl";
import { openArchive } from "#filings/folder.ts";

export type Members = Readonly<Record<string, string | Uint8Array>>;

/** Returns the bytes of an archive. @param mode of all members, as Unix has it. */
export async function zipped(members: Members, mode = 0o100644): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [name, content] of Object.entries(members))
    zip.addBuffer(Buffer.from(content as string), name, { mode, mtime: new Date(2031, 0, 1) });
  zip.end();
  return buffer(zip.outputStream);
}

/** Writes an archive into a folder, and returns its path. */
export async function writtenZip(folder: string, name: string, members: Members): Promise<string> {
  const path = join(folder, name);
  writeFileSync(path, await zipped(members));
  return path;
}

/** Returns the bytes of the members of an archive. */
export async function unzipped(path: string): Promise<Record<string, Buffer>> {
  const archive = await openArchive(path);
  const members: Record<string, Buffer> = {};
  for (const { name, open } of archive.members) members[name] = await buffer(open());
  archive.close();
  return members;
}

/** Returns the offset of the entry of a member in the directory of an archive. */
export function entryAt(zip: Buffer, name: string): number {
  const at = zip.lastIndexOf(name) - 46;
  assert.equal(zip.readUInt32LE(at), 0x02014b50);
  return at;
}
