/** Is the data folder on a disk of this machine? SQLite's locks cannot be trusted across a network. */
import { statfsSync } from "node:fs";
import { type Check, fail, type Finding, ok, warn } from "./check.ts";
import { nearestFolder } from "./data-folder.ts";

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
