/** What a process may have, set from outside; only Linux can. */
import { execFileSync, spawnSync } from "node:child_process";
import { outcomeOf } from "./command-line.ts";

export const canSetLimits = spawnSync("prlimit", ["--version"]).status === 0;
export const whyNot = "prlimit, of Linux, is not here";

/** @param value the soft limit, and the hard one behind a colon: `0:unlimited`, `100:`. */
export const setLimit = (pid: number, what: "fsize" | "nofile", value: string) =>
  execFileSync("prlimit", ["--pid", String(pid), `--${what}=${value}`]);

/** Runs the text of a module in a Node of its own, whose files may not grow beyond these bytes. */
export const outcomeOfScriptWithin = (fileBytesMax: number, script: string) =>
  outcomeOf(
    "prlimit",
    [`--fsize=${fileBytesMax}`, process.execPath, "--input-type=module", "-e", script],
    process.env,
  );
