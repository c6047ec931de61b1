/** Archives written for a test. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { ZipFile } from "yazl";

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
