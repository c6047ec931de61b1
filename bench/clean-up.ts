/** Leaves nothing behind: folders and processes of a run go when it ends, however it ends. */
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const undone: (() => void)[] = [];

/** Does `undo` when the process ends; it must not wait, and the last one registered is the first done. */
export const whenDone = (undo: () => void): void => void undone.push(undo);

process.on("exit", () => {
  for (const undo of undone.toReversed()) undo();
});
for (const [signal, exitCode] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)
  process.on(signal, () => process.exit(exitCode));

/** @param what the run is, for whoever finds its folder. */
export function temporaryFolder(
  what: "bench" | "faults" | "fuzz" | "test",
  parent = tmpdir(),
): string {
  const folder = mkdtempSync(join(parent, `gp-records-${what}-`));
  // A child killed just before may still be about to write.
  whenDone(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));
  return folder;
}

/** Killed by its own id, so that no other process can be meant. */
export function endWithUs<C extends ChildProcess>(child: C): C {
  whenDone(() => void child.kill("SIGKILL"));
  // Whoever waits for it hears of it; where nobody does, it must not end the run.
  child.on("error", () => {});
  return child;
}
