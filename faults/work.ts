/** What every attempt works with: folders of its own, children that end with it, and chances that can be repeated. */
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder, whenDone } from "../bench/clean-up.ts";
import { startRandom } from "#demo/random.ts";

export interface Work {
  /** A new empty folder. */
  folder(): string;
  /** Ends with the work, if it is still there then. */
  adopt<Child extends ChildProcess>(child: Child): Child;
  /** From 0 up to 1, the same row of numbers for the same seed. */
  chance(): number;
  /** One line on how far it is. */
  tell(text: string): void;
  end(): void;
}

export function openWork(seed: number, tell: (text: string) => void): Work {
  const root = temporaryFolder("faults");
  const children = new Set<ChildProcess>();
  const end = () => {
    for (const child of children) child.kill("SIGKILL");
    rmSync(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  };
  whenDone(end);
  return {
    folder: () => mkdtempSync(join(root, "data-")),
    adopt(child) {
      children.add(child);
      child.once("exit", () => children.delete(child));
      return child;
    },
    chance: startRandom(seed, "faults"),
    tell,
    end,
  };
}
