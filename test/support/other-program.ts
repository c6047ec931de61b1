/** Another version of this program, in a folder of its own. */
import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { TestContext } from "node:test";
import type { PostgresStep } from "#store/postgres-steps.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** The version that it says it is. */
export const otherProgram = "9.9.9";

/** This version with one more step of the schema, which it takes for the newest. @returns its folder. */
export function programWithStep(t: TestContext, { name, isAdditive, sql }: PostgresStep): string {
  const folder = temporaryFolder(t);
  for (const part of ["bin", "src", "examples", "openapi.json"])
    cpSync(part, join(folder, part), { recursive: true });
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
  edit("package.json", folder, /"version": "[^"]+"/, `"version": "${otherProgram}"`);
  const step = `  { name: "${name}", isAdditive: ${isAdditive}, sql: ${JSON.stringify(sql)} },\n];\n`;
  edit("src/store/postgres-steps.ts", folder, /\];\n$/, step);
  return folder;
}

function edit(path: string, folder: string, pattern: RegExp, by: string): void {
  const text = readFileSync(path, "utf8");
  if (!pattern.test(text)) throw new Error(`${path} has no ${pattern}`);
  writeFileSync(
    join(folder, path),
    text.replace(pattern, () => by),
  );
}
