/** Where one row's time or memory goes. */
import type { Effort } from "../effort.ts";
import type { Ground } from "../ground.ts";
import type { Profiled } from "../options.ts";
import { profileBesideImport } from "./beside-import.ts";
import { profileMemory } from "./memory.ts";
import { profileProcessor } from "./processor.ts";

/** @returns the report, without what it was measured on. */
export function profile(ground: Ground, row: Profiled, effort: Effort): Promise<string> {
  if (row === "memory") return profileMemory(ground);
  if (row === "import-p99") return profileBesideImport(ground, effort);
  return profileProcessor(ground, row, effort);
}
