/** Lists what gp-records keeps in DATA_DIR; other files there are somebody else's. */
import { readdirSync, statSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";

export interface KeptFile {
  path: string;
  stats: Stats;
}

const ownName =
  /^(?:(?:control|usage)\.sqlite(?:-wal|-shm)?|(?:server|import)\.(?:lock|holder)|demo\.key|datasets|counts)$/;

/** What a restore made there, at its work or when it was done. */
const restoreName = /^(?:\.restore(?:-draft)?|replaced-.*)$/;
/** What a system puts into any folder: hidden files, and what it found on a disk. */
const anybodysName = /^(?:\..*|lost\+found)$/;

/** The folder holds files, and none of gp-records': it may be one that was named by mistake. */
export function isForeign(dataDir: string): boolean {
  const names = namesIn(dataDir);
  return (
    names.some((name) => !anybodysName.test(name)) &&
    !names.some((name) => ownName.test(name) || restoreName.test(name))
  );
}

/** The folder itself comes first; empty where there is none, or it is none of gp-records'. */
export function keptFiles(dataDir: string): KeptFile[] {
  const folder = fileAt(dataDir);
  if (folder === undefined || !folder.stats.isDirectory() || isForeign(dataDir)) return [];
  const own = namesIn(dataDir).filter((name) => ownName.test(name));
  return [dataDir, ...own.map((name) => join(dataDir, name))].flatMap((path) => {
    const file = fileAt(path);
    if (file === undefined) return [];
    const isFolderBelow = path !== dataDir && file.stats.isDirectory();
    const below = isFolderBelow ? namesIn(path).map((name) => fileAt(join(path, name))) : [];
    return [file, ...below.filter((one) => one !== undefined)];
  });
}

/** The paths in DATA_DIR itself that these files are at or below; the folder as a whole is not gp-records' to change. */
export function topPaths(dataDir: string, files: readonly KeptFile[]): string[] {
  const below = files.map(({ path }) => path).filter((path) => path !== dataDir);
  return [...new Set(below.map((path) => (dirname(path) === dataDir ? path : dirname(path))))];
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
