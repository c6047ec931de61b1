/** Checks the data folder: access, permissions, file system and free disk space. */
import { accessSync, constants, readdirSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { type Check, fail, type Finding, ok, warn } from "./check.ts";

export const dataFolder: Check = {
  name: "folder",
  look: ({ dataDir }) => [judgeFolder(dataDir)],
};

function judgeFolder(dataDir: string): Finding {
  const place = nearest(dataDir);
  if (!statSync(place).isDirectory())
    return fail(
      `DATA_DIR is ${dataDir}, but ${place} is not a folder`,
      "Name a folder with DATA_DIR.",
    );
  if (place !== dataDir)
    return isWritable(place)
      ? ok(`${dataDir} does not exist yet; the first import or start creates it`)
      : fail(
          `${dataDir} does not exist, and this user may not create it in ${place}`,
          `As root, create it for the user who runs gp-records: install -d -m 0700 -o USER ${dataDir}`,
        );
  if (isWritable(dataDir)) return ok(`${dataDir} exists and can be written to`);
  return fail(
    `this user may not read, write and search ${dataDir}`,
    "Run gp-records as the owner of this folder, or name another one with DATA_DIR.",
  );
}

/** Returns the path itself if anything is there, otherwise the nearest existing path above it. */
const nearest = (path: string): string =>
  statSync(path, { throwIfNoEntry: false }) === undefined ? nearest(dirname(path)) : path;

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const ownNames =
  /^(?:(?:control|usage)\.sqlite(?:-wal|-shm)?|(?:server|import)\.lock|demo\.key|datasets|counts)$/;
const forOthers = 0o077;
const writeForOthers = 0o022;

/**
 * Check of the folder's mode, which guards everything in it. A folder without the program's files passes:
 * DATA_DIR may name it by mistake, and changing its mode could do harm.
 */
export const modes: Check = {
  name: "modes",
  look({ dataDir }) {
    if (!namesIn(dataDir).some((name) => ownNames.test(name)))
      return [ok(`gp-records has no files in ${dataDir} yet`)];
    const mode = process.platform === "win32" ? 0 : statSync(dataDir).mode & 0o777;
    if ((mode & forOthers) === 0) return [ok(`only the owner may read and write ${dataDir}`)];
    const isWritable = (mode & writeForOthers) !== 0;
    const found = `other users may ${isWritable ? "write to" : "read or search"} ${dataDir} (mode 0${mode.toString(8)})`;
    return [(isWritable ? fail : warn)(found, `chmod go= ${dataDir}`)];
  },
};

/** Lists the names in a folder, sorted. Returns none if there is no such folder. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    throw error;
  }
}

/** Network file systems by Linux's magic numbers; see statfs(2). */
const networkTypes: Readonly<Record<number, string>> = {
  0x6969: "NFS",
  0x517b: "SMB",
  0xfe534d42: "SMB",
  0xff534d42: "SMB (CIFS)",
  0x01021997: "9p",
  0x5346414f: "AFS",
  0x00c36400: "Ceph",
  0x0bd00bd0: "Lustre",
  0x786f4256: "a VirtualBox shared folder",
};
const fuse = 0x65735546;

/** Check of the kind of file system, because SQLite's locks cannot be trusted across a network. */
export const fileSystem: Check = {
  name: "file system",
  look: ({ dataDir }) => [judgeFileSystem(dataDir, statfsSync(nearest(dataDir)).type)],
};

/** Judges a file system. @param type number from statfs, which identifies a file system only on Linux. */
export function judgeFileSystem(dataDir: string, type: number): Finding {
  if (process.platform !== "linux") return ok("its type is not known on this system");
  const kind = networkTypes[type >>> 0];
  const mend =
    "Stop the server, move the folder to a disk of this machine, and name its new place with DATA_DIR.";
  if (kind !== undefined)
    return fail(
      `${dataDir} is on ${kind}, where two programs can write a database at once and damage it`,
      mend,
    );
  if (type >>> 0 === fuse)
    return warn(`${dataDir} is on a FUSE file system, which may be on a network`, mend);
  return ok("is local");
}

/** Disk space that a server needs for counts, usage and keys with their write-ahead logs, in bytes. */
const serverBytes = 64 * 1024 ** 2;

export const disk: Check = {
  name: "disk",
  look({ dataDir }) {
    const { bavail, bsize } = statfsSync(nearest(dataDir));
    return [judgeSpace(dataDir, bavail * bsize)];
  },
};

export function judgeSpace(dataDir: string, freeBytes: number): Finding {
  const mebibytes = (bytes: number) =>
    `${Math.floor(bytes / 1024 ** 2).toLocaleString("en-US")} MiB`;
  const free = `${mebibytes(freeBytes)} are free on the disk of ${dataDir}`;
  if (freeBytes >= serverBytes) return ok(free);
  return fail(
    `only ${free}; the server needs ${mebibytes(serverBytes)} to write counts, usage and keys`,
    "Free some space, for example with `gp-records datasets prune`, which removes old datasets; or move DATA_DIR to a larger disk.",
  );
}
