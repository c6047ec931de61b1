/** Lists what gp-records keeps in DATA_DIR; other files there are somebody else's. */
import { readdirSync, statSync, type Stats } from "node:fs";
import { join } from "node:path";

export interface KeptFile {
  path: string;
  stats: Stats;
}

const ownName =
  /^(?:(?:control|usage)\.sqlite(?:-wal|-shm)?|(?:server|import)\.(?:lock|holder)|datasets|counts)$/;

/** The folder itself comes first; empty where there is none. */
export function keptFiles(dataDir: string): KeptFile[] {
  const folder = fileAt(dataDir);
  if (folder === undefined) return [];
  const own = namesIn(dataDir).filter((name) => ownName.test(name));
  return [dataDir, ...own.map((name) => join(dataDir, name))].flatMap((path) => {
    const file = fileAt(path);
    if (file === undefined) return [];
    const isFolderBelow = path !== dataDir && file.stats.isDirectory();
    const below = isFolderBelow ? namesIn(path).map((name) => fileAt(join(path, name))) : [];
    return [file, ...below.filter((one) => one !== undefined)];
  });
}

/** Names in a folder, sorted; none where there is no such folder. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    throw error;
  }
}

function fileAt(path: string): KeptFile | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats && { path, stats };
}
