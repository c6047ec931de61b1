/** A Node of this machine that is too old to run gp-records by itself, so that the launcher starts another one. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

const isOld = (version: string) => Number.parseInt(version.slice(1)) < 26;

function findOldNode(): string | undefined {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/local/bin", "/usr/bin"];
  return folders
    .map((folder) => join(folder, "node"))
    .filter((path) => existsSync(path))
    .find((path) => isOld(spawnSync(path, ["--version"], { encoding: "utf8" }).stdout ?? ""));
}

/** Undefined where this machine has none. */
export const oldNode = findOldNode();
