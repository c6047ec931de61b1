/** May only their owner read and write the files of the data folder? */
import { type Check, fail, faultsOr, type Finding, warn } from "./check.ts";
import { type KeptFile, keptFiles, topPaths } from "./kept-files.ts";

const forOthers = 0o077;
const writeForOthers = 0o022;

export const modes: Check = {
  name: "modes",
  look({ dataDir }) {
    const files = process.platform === "win32" ? [] : keptFiles(dataDir);
    const open = files.filter(({ stats }) => (stats.mode & forOthers) !== 0);
    return faultsOr(
      open.length === 0 ? [] : [openFiles(dataDir, open)],
      files.length === 0
        ? "nothing of gp-records' is there yet"
        : "only the owner may read and write",
    );
  },
};

/** One finding for all of them, because one command mends them. */
function openFiles(dataDir: string, open: readonly KeptFile[]): Finding {
  const { path, stats } = open[0]!;
  const mode = (stats.mode & 0o777).toString(8).padStart(4, "0");
  const others = open.length === 1 ? "" : `, and ${open.length - 1} more like it`;
  const isWritable = open.some((file) => (file.stats.mode & writeForOthers) !== 0);
  const found = `others may ${isWritable ? "write" : "read"} ${path} (mode ${mode})${others}`;
  const mend = commandFor(dataDir, open);
  return isWritable ? fail(found, mend) : warn(found, mend);
}

function commandFor(dataDir: string, open: readonly KeptFile[]): string {
  const below = topPaths(dataDir, open);
  return [
    ...(open.some(({ path }) => path === dataDir) ? [`chmod go= ${dataDir}`] : []),
    ...(below.length > 0 ? [`chmod -R go= ${below.join(" ")}`] : []),
  ].join(" && ");
}
