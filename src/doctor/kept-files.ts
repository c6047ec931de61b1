/** Lists the files of gp-records in DATA_DIR; other files there belong to somebody else. */
import { readdirSync, statSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";

export interface KeptFile {
  path: string;
  stats: Stats;
}

const ownName =
  /^(?:(?:control|usage)\.sqlite(?:-wal|-shm)?|(?:server|import)\.(?:lock|holder)|demo\.key|move\.json|datasets|counts)$/;

/** What a restore leaves there, while it runs or when it is done. */
const restoreName = /^(?:\.restore(?:-draft)?|replaced-.*)$/;
/** What a system puts into any folder. */
const anybodysName = /^(?:\..*|lost\+found)$/;

/** Whether the folder has files, none of them gp-records': it may have been named by mistake. */
export function isForeign(dataDir: string): boolean {
  const names = namesIn(dataDir);
  return (
    names.some((name) => !anybodysName.test(name)) &&
    !names.some((name) => ownName.test(name) || restoreName.test(name))
  );
}

/** The folder itself comes first; empty where there is none, or it does not belong to gp-records. */
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

/** The paths directly in DATA_DIR that these files are at or below, for commands that must not change the folder as a whole. */
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
