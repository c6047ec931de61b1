/** The client in TypeScript as it is published, and what runs beside it. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import { temporaryFolder as folderOfRun } from "../../bench/clean-up.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const execute = promisify(execFile);

/** @returns standard output. @throws with both outputs where it fails. */
export async function run(
  command: string,
  args: readonly string[],
  { cwd = ".", env = {} }: { cwd?: string; env?: Record<string, string> } = {},
): Promise<string> {
  const path = [resolve("node_modules/.bin"), process.env["PATH"]].join(delimiter);
  try {
    const options = { cwd, env: { ...process.env, PATH: path, ...env } };
    const { stdout } = await execute(command, args, options);
    return stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    assert.fail(`${command} ${args.join(" ")} failed:\n${stdout}${stderr}`);
  }
}

let packed: Promise<string> | null = null;

/** @returns a folder with the archive, and what it holds as a package of that folder. */
export async function packClient(t: TestContext) {
  const folder = temporaryFolder(t);
  cpSync(await (packed ??= pack()), folder, { recursive: true });
  const archive = join(
    folder,
    readdirSync(folder).find((name) => name.endsWith(".tgz"))!,
  );
  return { folder, archive, client: join(folder, "node_modules", "gp-records-client") };
}

/** Packs it apart from the checkout. @returns the folder that `packClient` copies. */
async function pack(): Promise<string> {
  const folder = folderOfRun("test");
  const sources = join(folder, "sources");
  for (const name of ["src", "package.json", "tsconfig.json", "README.md", "LICENSE"])
    cpSync(join("clients/typescript", name), join(sources, name), { recursive: true });
  // Below `npm run` the setting of this checkout holds everywhere, and would leave `prepack` out.
  const scripts = "--ignore-scripts=false";
  await run("npm", ["pack", "--silent", scripts, "--pack-destination", folder], { cwd: sources });
  rmSync(sources, { recursive: true });
  const packages = join(folder, "node_modules");
  mkdirSync(packages);
  const [archive = ""] = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
  await run("tar", ["-xzf", join(folder, archive), "-C", packages]);
  renameSync(join(packages, "package"), join(packages, "gp-records-client"));
  return folder;
}

/** Holds programs in the folder of a packed client against its types. */
export async function checkTypes(folder: string, names: readonly string[]): Promise<void> {
  for (const name of ["@types", "undici-types"])
    symlinkSync(resolve("node_modules", name), join(folder, "node_modules", name));
  const strict = ["--strict", "--exactOptionalPropertyTypes", "--noEmit", "--types", "node"];
  const modules = ["--target", "es2022", "--module", "nodenext"];
  await run("tsc", [...strict, ...modules, ...names], { cwd: folder });
}
