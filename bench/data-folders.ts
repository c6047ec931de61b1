/** Data folders as an operator has them, filled by the program of a checkout. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { endWithUs } from "./clean-up.ts";
import { benchSource } from "./records.ts";

/** Ten times as many records as usual on a slow machine. */
const importMillisecondsMax = 1_800_000;

/** Runs the import command. @param nodeArgs for Node itself, before the program. */
export async function importRecords(
  root: string,
  dataDir: string,
  file: string,
  nodeArgs: readonly string[] = [],
): Promise<void> {
  const command = [join(root, "bin/gp-records"), "import", "ndjson", file, "--source", benchSource];
  const child = endWithUs(
    spawn(process.execPath, [...nodeArgs, ...command], {
      env: { PATH: process.env["PATH"], DATA_DIR: dataDir },
      stdio: ["ignore", "ignore", "pipe"],
      timeout: importMillisecondsMax,
    }),
  );
  let complaint = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (complaint += text));
  const [exitCode] = (await once(child, "exit")) as [number | null];
  if (exitCode !== 0) throw new Error(`import of ${file} ended with ${exitCode}: ${complaint}`);
}

/** One server at a time holds a data folder, so each gets its own, over the same datasets and keys. */
export function dataFolderOver(publishedDir: string, dataDir: string): string {
  symlinkSync(join(publishedDir, "datasets"), join(dataDir, "datasets"));
  cpSync(join(publishedDir, "control.sqlite"), join(dataDir, "control.sqlite"));
  return dataDir;
}
