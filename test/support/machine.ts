/** What a test needs of its machine: programs, a certificate, limits of processes, small disks, another user. A missing one skips the test, but never in CI. */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { outcomeOf } from "./command-line.ts";

/**
 * Can `name` be run here? Marks the test as skipped where not; `debianPackage` is what brings it.
 * @throws Error in CI: there a skipped test would look like one that passed.
 */
export function hasTool(t: TestContext, name: string, debianPackage = name): boolean {
  const { error } = spawnSync(name, ["--version"], { stdio: "ignore" });
  if (error === undefined) return true;
  const sentence = `no ${name} (apt-get install ${debianPackage})`;
  if (process.env["CI"]) throw new Error(`There is ${sentence}.`);
  t.skip(`skipped: ${sentence}`);
  return false;
}

/** Runs it to its end, within 20 s; `said` is standard output and error together. */
export function runTool(name: string, args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(name, args, { encoding: "utf8", timeout: 20_000 });
  return { exitCode: status, said: stdout + stderr };
}

/** Needs openssl. @param names of hosts it is good for. @returns the paths of both, in `folder`. */
export function makeCertificate(folder: string, names: readonly string[] = ["localhost"]) {
  const [certificate, key] = [join(folder, "certificate.pem"), join(folder, "key.pem")];
  const made = runTool("openssl", [
    ..."req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2".split(" "),
    "-subj",
    `/CN=${names[0]}`,
    "-addext",
    `subjectAltName=${names.map((name) => `DNS:${name}`).join(",")}`,
    "-keyout",
    key,
    "-out",
    certificate,
  ]);
  assert.equal(made.exitCode, 0, made.said);
  return { certificate, key };
}

export const canSetLimits = spawnSync("prlimit", ["--version"]).status === 0;
export const whyNoLimits = "prlimit, of Linux, is not here";

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

/**
 * Mounts a small file system on a folder of its own; skips the test where this user cannot.
 * @param size as `mount` takes it: `64k`, `2m`.
 */
export function smallDisk(t: TestContext, size: string) {
  const folder = mkdtempSync(join(tmpdir(), "gp-records-disk-"));
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", folder]);
  t.after(() => {
    if (mounted.status === 0) execFileSync("umount", [folder]);
    rmdirSync(folder);
  });
  if (mounted.status !== 0) {
    t.skip("this user cannot mount a small disk");
    return null;
  }
  const resize = (to: string) => execFileSync("mount", ["-o", `remount,size=${to}`, folder]);
  return { folder, resize };
}

const nobody = 65_534;

/** Does something as another user where the tests run as root, and as the same one where they do not. */
export async function asOrdinaryUser<R>(act: () => R | Promise<R>): Promise<R> {
  if (process.getuid?.() !== 0) return act();
  process.seteuid!(nobody);
  try {
    return await act();
  } finally {
    process.seteuid!(0);
  }
}
