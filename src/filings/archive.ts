/** Reads ZIP archives of unknown origin, member by member, and refuses those that are built to harm or are damaged. */
import { crc32 } from "node:zlib";
import { type Entry, openPromise, type ZipFile } from "yauzl";
import { ImportFault, quoted } from "#importers/import-fault.ts";

export interface ArchiveMember {
  /** Name with its folders, separated by `/`. */
  name: string;
  /** Number of bytes unzipped. */
  size: number;
  /** Yields the bytes, unzipped as they are read. @throws ImportFault if they are not what the archive says. */
  open(): AsyncIterable<Buffer>;
}

export interface Archive {
  /** Members other than folders, in the archive's order. */
  members: readonly ArchiveMember[];
  close(): void;
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
 * Opens an archive, without reading a member. The caller closes it.
 * @param limits for tests.
 * @throws ImportFault if the archive is damaged, or a member is encrypted, a link, outside of the archive, there twice,
 *   or out of proportion.
 */
export async function openArchive(path: string, limits = archiveLimits): Promise<Archive> {
  let zip: ZipFile;
  try {
    zip = await openPromise(path, { autoClose: false });
  } catch (error) {
    throw damaged(path, error);
  }
  try {
    const members = await readDirectory(path, zip, limits);
    return { members, close: () => zip.close() };
  } catch (error) {
    zip.close();
    throw error;
  }
}

async function readDirectory(
  path: string,
  zip: ZipFile,
  { ratioMax, ratioFrom, bytesMax, membersMax }: typeof archiveLimits,
): Promise<ArchiveMember[]> {
  const members = new Map<string, ArchiveMember>();
  const refuse = (name: string, reason: string): never => {
    throw new ImportFault(`${path}!${name}`, null, `${reason}; download the archive again`);
  };
  if (zip.entryCount > membersMax)
    throw new ImportFault(
      path,
      null,
      `has ${zip.entryCount} members; at most ${membersMax} are read`,
    );
  let total = 0;
  for await (const entry of entriesOf(path, zip)) {
    const { fileName: name, uncompressedSize: size } = entry;
    if (isLink(entry)) refuse(name, "is a symbolic link, which no archive of the SEC has");
    if (name.endsWith("/")) continue;
    if (entry.isEncrypted())
      refuse(name, "is encrypted, which no member of an archive of the SEC is");
    if (members.has(name)) refuse(name, "is in the archive twice");
    total += size;
    if (total > bytesMax)
      refuse(name, `brings the archive to more than ${bytesMax} unzipped bytes, which is refused`);
    const isBomb = (unzipped: number, zipped: number) =>
      unzipped > ratioFrom && unzipped > ratioMax * zipped;
    // Members may share their zipped bytes, so that each alone is in proportion.
    if (isBomb(size, entry.compressedSize) || isBomb(total, zip.fileSize))
      refuse(name, `unzips to more than ${ratioMax} times its size, as a zip bomb does`);
    members.set(name, { name, size, open: () => contentsOf(path, zip, entry) });
  }
  return [...members.values()];
}

/** Returns whether the attributes that Unix systems give an entry are those of a symbolic link. */
const isLink = ({ externalFileAttributes }: Entry) =>
  ((externalFileAttributes >>> 16) & 0o170000) === 0o120000;

async function* entriesOf(path: string, zip: ZipFile): AsyncGenerator<Entry, void> {
  try {
    yield* zip.eachEntry();
  } catch (error) {
    const { message } = error as Error;
    const [, name] =
      /^(?:invalid relative path|absolute path|invalid characters in fileName): (.*)$/s.exec(
        message,
      ) ?? [];
    if (name === undefined) throw damaged(path, error);
    throw new ImportFault(
      path,
      null,
      `has a member that would lie outside of the archive, ${quoted(name)}; download the archive again`,
    );
  }
}

async function* contentsOf(path: string, zip: ZipFile, entry: Entry): AsyncGenerator<Buffer, void> {
  const shown = `${path}!${entry.fileName}`;
  let sum = 0;
  try {
    // The stream itself refuses more or fewer bytes than the directory says.
    for await (const chunk of await zip.openReadStreamPromise(entry)) {
      sum = crc32(chunk as Buffer, sum);
      yield chunk as Buffer;
    }
  } catch (error) {
    throw damaged(shown, error);
  }
  if (sum !== entry.crc32) throw damaged(shown, new Error("its checksum does not fit"));
}

const damaged = (shown: string, error: unknown) =>
  new ImportFault(
    shown,
    null,
    `is damaged or cut off (${(error as Error).message.split(/\. |\n/)[0]}); download it again`,
  );
