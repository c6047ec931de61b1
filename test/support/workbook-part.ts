import { inflateRawSync } from "node:zlib";

/** The text of a part of a ZIP archive whose parts are deflated. */
export function partOf(archive: Buffer, name: string): string {
  const at = archive.indexOf(name);
  // Behind the name are the extra fields, whose length stands before it (APPNOTE 4.3.7).
  return inflateRawSync(
    archive.subarray(at + name.length + archive.readUInt16LE(at - 2)),
  ).toString();
}
