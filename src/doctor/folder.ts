/** Checks DATA_DIR: whether it can be used, who else may read it, and the disk that it is on. */
import { accessSync, constants, readdirSync, type Stats, statfsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { bytesText, type Check, fail, faultsOr, type Finding, ok, warn } from "./check.ts";

export const dataFolder: Check = {
  name: "folder",
  look({ dataDir }) {
    const stats = statSync(dataDir, { throwIfNoEntry: false });
    if (stats === undefined) return [absentFolder(dataDir)];
    if (!stats.isDirectory())
      return [
        fail(
          `DATA_DIR names ${dataDir}, which is ${stats.isFile() ? "a file" : "something else"}, not a folder`,
          "Name a folder with DATA_DIR.",
        ),
      ];
    if (!isWritable(dataDir))
      return [
        fail(
          `this user may not write ${dataDir}`,
          "Name another folder with DATA_DIR, or run gp-records as the owner of this one.",
        ),
      ];
    return [ok(`${dataDir} is there and can be written`)];
  },
};

function absentFolder(dataDir: string): Finding {
  const above = nearestFolder(dataDir);
  return isWritable(above)
    ? ok(`${dataDir} is not there yet; the first import or start makes it`)
    : fail(
        `${dataDir} is not there, and this user may not make it in ${above}`,
        `Make it for the user who runs gp-records: install -d -m 0700 -o USER ${dataDir}`,
      );
}

/** Returns the folder, or the first one above it that is there. */
function nearestFolder(path: string): string {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
    ? path
    : nearestFolder(dirname(path));
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const ownNames =
  /^(?:(?:control|usage)\.sqlite(?:-wal|-shm)?|(?:server|import)\.(?:lock|holder)|demo\.key|datasets|counts)$/;
const forOthers = 0o077;
const writeForOthers = 0o022;

/** Looks at gp-records' own files alone: a folder that was named by mistake is not to be changed. */
export const modes: Check = {
  name: "modes",
  look({ dataDir }) {
    const own = namesIn(dataDir).filter((name) => ownNames.test(name));
    const paths = own.length === 0 ? [] : [dataDir, ...own.map((name) => join(dataDir, name))];
    const open = process.platform === "win32" ? [] : paths.flatMap(openFile);
    return faultsOr(
      open.length === 0 ? [] : [openFiles(dataDir, open)],
      own.length === 0
        ? "nothing of gp-records' is there yet"
        : "only the owner may read and write",
    );
  },
};

interface OpenFile {
  path: string;
  stats: Stats;
}

function openFile(path: string): OpenFile[] {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined || (stats.mode & forOthers) === 0 ? [] : [{ path, stats }];
}

/** One finding for all of them, because one command mends them. */
function openFiles(dataDir: string, open: readonly OpenFile[]): Finding {
  const { path, stats } = open[0]!;
  const mode = (stats.mode & 0o777).toString(8).padStart(4, "0");
  const others = open.length === 1 ? "" : `, and ${open.length - 1} more like it`;
  const isWritable = open.some((file) => (file.stats.mode & writeForOthers) !== 0);
  const found = `others may ${isWritable ? "write" : "read"} ${path} (mode ${mode})${others}`;
  const below = open.map((file) => file.path).filter((one) => one !== dataDir);
  const mend = [
    ...(below.length < open.length ? [`chmod go= ${dataDir}`] : []),
    ...(below.length > 0 ? [`chmod -R go= ${below.join(" ")}`] : []),
  ].join(" && ");
  return isWritable ? fail(found, mend) : warn(found, mend);
}

/** Returns the names in a folder, sorted; none where there is no such folder. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    throw error;
  }
}

/** By the magic numbers of Linux, statfs(2). */
const networkTypes: Readonly<Record<number, string>> = {
  0x6969: "NFS",
  0x517b: "SMB",
  0xfe534d42: "SMB",
  0xff534d42: "SMB (CIFS)",
  0x01021997: "9p",
  0x5346414f: "AFS",
  0x00c36400: "Ceph",
  0x0bd00bd0: "Lustre",
  0x786f4256: "a shared folder of VirtualBox",
};
const fuse = 0x65735546;

/** SQLite's locks cannot be trusted across a network. */
export const fileSystem: Check = {
  name: "file system",
  look: ({ dataDir }) => [judgeFileSystem(dataDir, statfsSync(nearestFolder(dataDir)).type)],
};

/** @param type of statfs; the numbers mean this on Linux only. */
export function judgeFileSystem(dataDir: string, type: number): Finding {
  if (process.platform !== "linux") return ok("its kind cannot be told on this system");
  const kind = networkTypes[type >>> 0];
  const mend = "Move the folder to a disk of this machine, and name it with DATA_DIR.";
  if (kind !== undefined)
    return fail(
      `${dataDir} is on ${kind}, where two programs can write a database at once and damage it`,
      mend,
    );
  if (type >>> 0 === fuse)
    return warn(`${dataDir} is on a FUSE file system, which may be one over a network`, mend);
  return ok("a local one");
}

/** For counts, usage and keys with their write-ahead logs. */
const serverBytes = 64 * 1024 ** 2;
/** Files that a server and an import need on their way. */
const filesMin = 100;

interface Space {
  freeBytes: number;
  /** Files that can still be created; null where the file system has no such limit. */
  freeFiles: number | null;
}

export const disk: Check = {
  name: "disk",
  look({ dataDir }) {
    const { bavail, bsize, files, ffree } = statfsSync(nearestFolder(dataDir));
    const space = { freeBytes: bavail * bsize, freeFiles: files === 0 ? null : ffree };
    return [judgeSpace(dataDir, space)];
  },
};

export function judgeSpace(dataDir: string, { freeBytes, freeFiles }: Space): Finding {
  const free = `${bytesText(freeBytes)} are free on the disk of ${dataDir}`;
  const mend =
    "Free some space: `gp-records datasets prune` removes old datasets. Or move DATA_DIR to a larger disk.";
  if (freeBytes < serverBytes)
    return fail(`only ${free}; the server needs ${bytesText(serverBytes)} to write counts`, mend);
  if (freeFiles !== null && freeFiles < filesMin)
    return fail(`only ${freeFiles} more files can be made on the disk of ${dataDir}`, mend);
  return ok(free);
}
