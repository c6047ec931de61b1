/** A program of the system that a test needs; where it is missing the test is skipped, but never in CI. */
import { spawnSync } from "node:child_process";
import type { TestContext } from "node:test";

export interface ToolRun {
  exitCode: number | null;
  /** Standard output and error together. */
  said: string;
}

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

/** Runs it to its end, within 20 s. */
export function runTool(name: string, args: readonly string[]): ToolRun {
  const { status, stdout, stderr } = spawnSync(name, args, { encoding: "utf8", timeout: 20_000 });
  return { exitCode: status, said: stdout + stderr };
}
