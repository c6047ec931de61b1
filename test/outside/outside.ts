/** Programs and readers of others that tests hold ours against; they are installed in this folder, apart from our own packages. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";

export const outsideFolder = join(import.meta.dirname, "node_modules");

/**
 * Is `name`, a package of this folder, installed? Marks the test as skipped where not.
 * @throws Error in CI: there a skipped test would look like one that passed.
 */
export function hasOutside(t: TestContext, name: string): boolean {
  if (existsSync(join(outsideFolder, name))) return true;
  const sentence = `no ${name} (npm ci --ignore-scripts --prefix test/outside)`;
  if (process.env["CI"]) throw new Error(`There is ${sentence}.`);
  t.skip(`skipped: ${sentence}`);
  return false;
}

/** What `import` gives for a package of this folder. */
export const importOutside = async <Module>(name: string): Promise<Module> =>
  (await import(name)) as Module;

/** The path of a command that a package of this folder brings. */
export const outsideCommand = (name: string): string => join(outsideFolder, ".bin", name);
