/** Reads ZIP archives of unknown origin, member by member, and refuses those that are built to harm or are damaged. */
import { crc32 } from "node:zlib";
import { type Entry, openPromise, type ZipFile } from "yauzl";
import { ImportFault, quoted } from "#importers/import-fault.ts";

interface ArchiveMember {
  /** Name with its folders, separated by `/`. */
  name: string;
  /** Number of bytes unzipped. */
  size: number;
  /** Yields the bytes, unzipped as they are read. @throws ImportFault if they are not what the archive says. */
  open(): AsyncIterable<Buffer>;
}

export const archiveLimits = {
  /** How many times its zipped bytes a member may have. Tables of the SEC have up to 40. */
  ratioMax: 200,
  /** Unzipped bytes below which the ratio says nothing. */
  ratioFrom: 1024 * 1024,
  /** Unzipped bytes of all members together. */
  bytesMax: 32 * 1024 ** 3,
  membersMax: 10_000,
};

/**
 * Opens an archive, without reading a member. The caller closes it. Folders are no members.
 * @param limits for tests.
 * @throws ImportFault if the archive is damaged, or a member is encrypted, a link, outside of the archive, there twice,
 *   or out of proportion.
 */
export async function openArchive(
  path: string,
  limits = archiveLimits,
): Promise<{ members: readonly ArchiveMember[]; close: () => void }> {
  let zip: ZipFile | undefined;
  try {
    const opened = (zip = await openPromise(path, { autoClose: false }));
    const members = new Map<string, ArchiveMember>();
    let total = 0;
    for await (const entry of opened.eachEntry()) {
      const { fileName: name, uncompressedSize: size } = entry;
      total += size;
      const reason = members.has(name)
        ? "is in the archive twice"
        : whyRefused(entry, total, opened, limits);
      if (reason !== undefined)
        throw new ImportFault(`${path}!${name}`, null, `${reason}; download the archive again`);
      if (!name.endsWith("/"))
        members.set(name, { name, size, open: () => contentsOf(path, opened, entry) });
    }
    return { members: [...members.values()], close: () => opened.close() };
  } catch (error) {
    zip?.close();
    throw error instanceof ImportFault ? error : damaged(path, error);
  }
}

function whyRefused(
  entry: Entry,
  total: number,
  { entryCount, fileSize }: ZipFile,
  { ratioMax, ratioFrom, bytesMax, membersMax }: typeof archiveLimits,
): string | undefined {
  const isBomb = (unzipped: number, zipped: number) =>
    unzipped > ratioFrom && unzipped > ratioMax * zipped;
  const kind = (entry.externalFileAttributes >>> 16) & 0o170000;
  if (entryCount > membersMax)
    return `is one of ${entryCount} members, but at most ${membersMax} are read`;
  if (kind === 0o120000) return "is a symbolic link, which no archive of the SEC has";
  if (entry.isEncrypted()) return "is encrypted, which no member of an archive of the SEC is";
  if (total > bytesMax) return `brings the archive to more than ${bytesMax} unzipped bytes`;
  // Members may share their zipped bytes, so that each alone is in proportion.
  return isBomb(entry.uncompressedSize, entry.compressedSize) || isBomb(total, fileSize)
    ? `unzips to more than ${ratioMax} times its size, as a zip bomb does`
    : undefined;
}

async function* contentsOf(path: string, zip: ZipFile, entry: Entry): AsyncGenerator<Buffer, void> {
  let sum = 0;
  try {
    // The stream itself refuses more or fewer bytes than the directory says.
    for await (const chunk of await zip.openReadStreamPromise(entry)) {
      sum = crc32(chunk as Buffer, sum);
      yield chunk as Buffer;
    }
    if (sum !== entry.crc32) throw new Error("its checksum does not fit");
  } catch (error) {
    throw damaged(`${path}!${entry.fileName}`, error);
  }
}

/** Returns the fault for what yauzl says. It refuses by itself names that lead out of the archive. */
function damaged(shown: string, error: unknown): ImportFault {
  const [reason = ""] = (error as Error).message.split(/\. |\n/);
  const [, name] =
    /^(?:invalid relative path|absolute path|invalid characters in fileName): (.*)/.exec(reason) ??
    [];
  return new ImportFault(
    shown,
    null,
    name === undefined
      ? `is damaged or cut off (${reason}); download it again`
      : `has a member that would lie outside of the archive, ${quoted(name)}; download it again`,
  );
}
