/** Brings a whole folder to the disk, and gives it to the user whose data folder it is for. */
import { chownSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { syncPath } from "#datasets/whole-file.ts";

/** @param dataDir its owner becomes that of all below `folder`, where `root` restores for somebody else. */
export function settleTree(folder: string, dataDir: string): void {
  const { uid, gid } = statSync(dataDir);
  const isForOther = process.getuid?.() === 0 && uid !== 0;
  const locks = ["server.lock", "import.lock"].map((name) => join(dataDir, name));
  const tree = readdirSync(folder, { recursive: true, encoding: "utf8" });
  // What lies deepest comes first: a folder is synced after its files.
  const paths = [folder, ...tree.map((name) => join(folder, name))].toSorted().toReversed();
  if (isForOther) for (const path of [...paths, ...locks]) chownSync(path, uid, gid);
  for (const path of paths) syncPath(path);
}
